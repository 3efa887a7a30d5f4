"""Device asserts in a cubin, the ELF file with the code of one GPU architecture.

An assert is a call of __assertfail(condition, file, line, function, size of a character). The compiler puts the
addresses of the three texts and of __assertfail into constant bank 4, where relocations name them, and the line into
the code. So the last writes to the argument registers before each such call tell the site. The encodings are those of
sm_70 and later: 128 bits an instruction, of which the low half says all that is needed here.
"""

import collections
import struct

import numpy

# The condition is None where the code takes it from elsewhere, such as an argument of the kernel.
Site = collections.namedtuple("Site", "file line condition function")

# An instruction's low 12 bits say which it is. Rd stands in bits 16-23, Ra in 24-31, another operand in 32-63. Those
# whose Ra must be RZ are sums and products, which then only copy.
CALL, LOAD = 0x343, 0xb82                            # CALL.ABS.NOINC Ra; LDC Rd, c[bank][Ra + offset]
NUMBER = {0x802: False, 0x424: True, 0x431: True, 0x435: True}  # MOV, IMAD.MOV, HFMA2, HFMA2.MMA: Rd = operand
CONSTANT = {0xa02: False, 0x624: True}               # MOV, IMAD.MOV: Rd = c[bank][offset]
REGISTER = {0x202: False, 0x224: True}               # MOV, IMAD.MOV: Rd = Rb
UNIFORM = {0xc02: False, 0xe24: True}                # MOV, IMAD.U32: Rd = URb
TO_UNIFORM = {0xab9: 6, 0x7ac: 5}                    # ULDC, LDCU: URd = c[bank][offset]; where the offset begins
ZERO, BANK = 255, 4                                  # RZ; the bank of addresses
REACH = 400                                          # instructions that may lie between a write and the call
CONDITION, FILE, LINE, FUNCTION = 4, 6, 8, 10        # registers of the arguments, low halves


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
        kind = next((k for k in (".rel", ".rela") if k + ".nv.constant4" in self.sections), None)
        if not kind:
            return {}
        symbols, strings = self.sections[".symtab"], self.sections[".strtab"]
        relocations, bank = self.sections[kind + ".nv.constant4"], self.sections[".nv.constant4"]
        out = {}
        for at in range(relocations[4], relocations[4] + relocations[5], relocations[9]):
            offset, info = struct.unpack_from("<QQ", self._data, at)
            name, _, _, section, value, _ = struct.unpack_from("<IBBHQQ", self._data, symbols[4] + (info >> 32) * 24)
            # The addend stands in the entry, or where the address will.
            addend, = struct.unpack_from("<Q", self._data, at + 16 if kind == ".rela" else bank[4] + offset)
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
            op, operand = word & 0xfff, word >> 32
            if word >> 16 & 255 != register or op == CALL or op in TO_UNIFORM:
                continue
            copies = word >> 24 & 255 == ZERO
            if op in NUMBER and copies >= NUMBER[op]:
                return operand
            if op in CONSTANT and copies >= CONSTANT[op]:
                return self._constant(operand, 6)
            if op in REGISTER and copies >= REGISTER[op]:
                return self._value(before[:i], operand & 255)
            if op in UNIFORM and copies >= UNIFORM[op]:
                return self._uniform_value(before[:i], operand & 255)
            return None
        return None

    def _uniform_value(self, before, register):
        for word in reversed(before):
            if word & 0xfff in TO_UNIFORM and word >> 16 & 255 == register:
                return self._constant(word >> 32, TO_UNIFORM[word & 0xfff])
        return None

    def _constant(self, operand, shift):
        """What an address in the bank of addresses is of."""
        return self._constants.get((operand & 0x3fffff) >> shift) if operand >> 22 & 31 == BANK else None

    def _site(self, before):
        condition, file, line, function = (self._value(before, r) for r in (CONDITION, FILE, LINE, FUNCTION))
        if not (isinstance(file, str) and isinstance(line, int) and isinstance(function, str)):
            return None
        return Site(file, line, condition if isinstance(condition, str) else None, function)
