"""Device asserts in a cubin, the ELF file with the code of one GPU architecture.

An assert is a call of __assertfail(condition, file, line, function, size of a character). The compiler puts the
addresses of the three texts and of __assertfail into constant bank 4, where relocations name them, and the line into
the code. So the last writes to the argument registers before each such call tell the site. The encodings are those of
sm_70 and later: 128 bits an instruction, of which the low half says all that is needed here.
"""

import collections
import struct

import numpy

Site = collections.namedtuple("Site", "file line condition function")
RUN_TIME_TEXT = "(text given at run time)"

# The low 12 bits of an instruction. Rd stands in bits 16-23, Ra in 24-31, a constant or register operand in 32-63.
CALL = 0x343               # CALL.ABS.NOINC Ra
LOAD = 0xb82               # LDC Rd, c[bank][Ra + offset]
MOVE_NUMBER = (0x802, 0x424)   # MOV Rd, n and IMAD.MOV Rd, RZ, RZ, n
MOVE_CONSTANT = (0xa02, 0x624)  # the same of c[bank][offset]
MOVE_REGISTER = (0x202, 0x224)
ZERO = 255                 # RZ
BANK = 4
REACH = 400                # instructions that may lie between a write and the call
CONDITION, FILE, LINE, FUNCTION = 4, 6, 8, 10  # registers of the arguments, low halves


class Cubin:
    def __init__(self, data):
        self._data = data
        offset, = struct.unpack_from("<Q", data, 40)
        size, count, names = struct.unpack_from("<HHH", data, 58)
        headers = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size) for i in range(count)]
        self._headers = headers
        self.sections = {self._text(headers[names][4] + header[0]): header for header in headers}
        self._constants = self._read_constants()

    def _text(self, offset):
        return self._data[offset:self._data.index(b"\0", offset)].decode("utf-8", "replace")

    def _read_constants(self):
        """By offset in the bank: the text that is there, or the symbol's name."""
        if ".rel.nv.constant4" not in self.sections:
            return {}
        symbols, strings = self.sections[".symtab"], self.sections[".strtab"]
        relocations, bank = self.sections[".rel.nv.constant4"], self.sections[".nv.constant4"]
        out = {}
        for at in range(relocations[4], relocations[4] + relocations[5], 16):
            offset, info = struct.unpack_from("<QQ", self._data, at)
            name, _, _, section, value, _ = struct.unpack_from("<IBBHQQ", self._data, symbols[4] + (info >> 32) * 24)
            addend, = struct.unpack_from("<Q", self._data, bank[4] + offset)
            if 0 < section < len(self._headers) and self._headers[section][1] == 1:  # has contents
                out[offset] = self._text(self._headers[section][4] + value + addend)
            else:
                out[offset] = self._text(strings[4] + name)
        return out

    def sites(self):
        """Yields (Site, kernel) for each assert call; None instead of a Site that could not be read."""
        if "__assertfail" not in self._constants.values():
            return
        for name, header in self.sections.items():
            if not name.startswith(".text."):
                continue
            code = numpy.frombuffer(self._data, "<u8", header[5] // 8, header[4])[::2]
            for at in numpy.flatnonzero(code & 0xfff == CALL):
                before = code[max(0, at - REACH):at].tolist()
                if self._callee(before, int(code[at]) >> 24 & 255) == "__assertfail":
                    yield self._site(before), name[len(".text."):]

    def _callee(self, before, register):
        for i in range(len(before) - 1, -1, -1):
            word = before[i]
            if word & 0xfff == LOAD and word >> 16 & 255 == register and word >> 54 & 31 == BANK:
                base = word >> 24 & 255
                number = 0 if base == ZERO else self._value(before[:i], base)
                return self._constants.get(number) if isinstance(number, int) else None
        return None

    def _value(self, before, register):
        """What the register holds: a number, the text whose address it is, or None where the code does not say."""
        if register == ZERO:
            return 0
        for i in range(len(before) - 1, -1, -1):
            word = before[i]
            if word >> 16 & 255 != register:
                continue
            op, operand = word & 0xfff, word >> 32
            if op in MOVE_NUMBER:
                return operand
            if op in MOVE_CONSTANT:
                return self._constants.get((operand >> 8 & 0x3fff) * 4) if operand >> 22 & 31 == BANK else None
            if op in MOVE_REGISTER:
                return self._value(before[:i], operand & 255)
            if op in (CALL, 0x947, 0x918):  # these write no register: a call, a branch, no operation
                continue
            return None
        return None

    def _site(self, before):
        condition, file, line, function = (self._value(before, r) for r in (CONDITION, FILE, LINE, FUNCTION))
        if not (isinstance(file, str) and isinstance(line, int) and isinstance(function, str)):
            return None
        return Site(file, line, condition if isinstance(condition, str) else RUN_TIME_TEXT, function)
