// Logs in which a line is a value of JSON: an object for each record (Docker's json-file, journald, structured
// loggers), or a string for each line (a notebook's file).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dsafuzz {

// What the line says, with line feeds where it held them escaped: an object's message, and below it its other strings
// that have several lines or tell of an error (a logger's traceback stands beside the message). nullopt for a line of
// another form, which is then its own text; empty for an object that was cut before its message.
std::optional<std::string> json_text(std::string_view line);

}  // namespace dsafuzz
