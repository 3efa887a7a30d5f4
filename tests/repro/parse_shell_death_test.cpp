// A shell's report of a death, in any language; literal in, signal out. The words were read from the translations of
// glibc 2.36 and bash 5.2 and not from the parser's tables.
#include "repro/parse_shell_death.h"

#include <gtest/gtest.h>

#include <span>

namespace dsafuzz {
namespace {

struct Row {
  std::string_view line;
  std::optional<ShellDeath> death;
};

void expect_rows(std::span<const Row> rows, bool at_end) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.line);
    EXPECT_EQ(shell_death(row.line, at_end), row.death);
  }
}

constexpr auto kAbort = ShellDeath::abort;
constexpr auto kSegfault = ShellDeath::segfault;
constexpr auto kKill = ShellDeath::kill;

TEST(ShellDeath, WithTheRemarkOnTheCore) {
  constexpr Row kRows[] = {{"Aborted (core dumped)", kAbort},
                           {"  Segmentation fault (core dumped)  ", kSegfault},
                           {"Abort (core dumped)", kAbort},
                           {"Abgebrochen (Speicherabzug geschrieben)", kAbort},
                           {"Speicherzugriffsfehler (Speicherabzug geschrieben)", kSegfault},
                           {"Abortado (`core' generado)", kAbort},
                           {"Violación de segmento (`core' generado)", kSegfault},
                           {"Abandon (core dumped)", kAbort},
                           {"Erreur de segmentation (core dumped)", kSegfault},
                           {"Annullato (core dump creato)", kAbort},
                           {"Errore di segmentazione (core dump creato)", kSegfault},
                           {"Abortado (imagem do núcleo gravada)", kAbort},
                           {"Falta de segmentação (núcleo despejado)", kSegfault},
                           {"中止 (コアダンプ)", kAbort},
                           {"Segmentation fault (コアダンプ)", kSegfault},
                           {"已放弃（核心已转储）", kAbort},
                           {"已放弃 (核心已转储)", kAbort},
                           {"段错误 (核心已转储)", kSegfault},
                           {"中止 (核心已傾印)", kAbort},
                           {"程式記憶體區段錯誤 (核心已傾印)", kSegfault},
                           {"중지됨 (코어 덤프됨)", kAbort},
                           {"세그멘테이션 오류 (코어 덤프됨)", kSegfault},
                           {"Аварийный останов (образ памяти сброшен на диск)", kAbort},
                           {"Ошибка сегментирования (стек памяти сброшен на диск)", kSegfault},
                           {"Перервано (збережено знімок оперативної пам’яті)", kAbort},
                           {"Przerwane (zrzut pamięci)", kAbort},
                           {"Afgebroken (geheugendump gemaakt)", kAbort},
                           {"Avbruten (SIGABRT) (minnesutskrift skapad)", kAbort},
                           {"Neúspěšně ukončen (SIGABRT) (core dumped [obraz paměti uložen])", kAbort},
                           {"İptal edildi (çekirdek döküldü)", kAbort},
                           {"Bị hủy bỏ (xuất ra core)", kAbort},
                           // in mid-line
                           {"99%|####| 5/5 [00:01<00:00, 4.9it/s]Aborted (core dumped)", kAbort},
                           {"bash: line 1:  9911 Segmentation fault      (core dumped) python a.py", kSegfault},
                           {"12:00:01 node3 Speicherzugriffsfehler (Speicherabzug geschrieben)", kSegfault},
                           // not these
                           {"", std::nullopt},
                           {"(core dumped)", std::nullopt},
                           {"unAborted (core dumped)", std::nullopt},
                           {"преАварийный останов (образ памяти сброшен на диск)", std::nullopt},
                           {"Aborted (core du", std::nullopt},
                           {"Aborted (by user)", std::nullopt},
                           {"Aborted: (core dumped)", std::nullopt},
                           {"Floating point exception (core dumped)", std::nullopt}};
  expect_rows(kRows, false);
  expect_rows(kRows, true);
}

TEST(ShellDeath, WithAProcessOrTheShellsName) {
  constexpr Row kRows[] = {{"run.sh: line 3: 81 Aborted                 python a.py", kAbort},
                           {"run.sh: line 3: 81 Killed", kKill},
                           {"./a b.sh: Zeile 3:    81 Getötet                 python a.py", kKill},
                           {"run.sh : ligne 3 :    81 Processus arrêté     python a.py", kKill},
                           {"run.sh: 3 行:    81 強制終了            python a.py", kKill},
                           {"run.sh：行 3: 81 已杀死               python a.py", kKill},
                           {"run.sh: строка 3:    81 Убито              python a.py", kKill},
                           {"[1]+  Aborted                 python a.py", kAbort},
                           {"[2]-  Abgebrochen             python a.py", kAbort},
                           {"[1]    81 abort      python a.py", kAbort},
                           {"[1]  + 81 killed     python a.py", kKill},
                           {"zsh: killed     python a.py", kKill},
                           {"zsh: segmentation fault  python a.py", kSegfault},
                           // not these
                           {"run.sh: line 3: 81 Killed by user", std::nullopt},
                           {"run.sh: line 3: Killed   python", std::nullopt},
                           {"run.sh: 81 Killed   python", std::nullopt},
                           {"run.sh: line 3: 81", std::nullopt},
                           {"run.sh: line 3:", std::nullopt},
                           {"[1", std::nullopt},
                           {"[1]+", std::nullopt},
                           {"[x]+  Aborted", std::nullopt},
                           {"zsh: ", std::nullopt}};
  expect_rows(kRows, false);
}

TEST(ShellDeath, BareWordsCountAtTheEndOnly) {
  constexpr Row kRows[] = {
      {"Aborted", kAbort},           {"Killed", kKill},          {"Speicherzugriffsfehler", kSegfault},
      {"Terminado (killed)", kKill}, {"中止", kAbort},           {"Killed.", std::nullopt},
      {"Aborted!", std::nullopt},    {"Abo", std::nullopt},      {"Killed 3", std::nullopt},
      {"  ", std::nullopt},          {"Abortado.", std::nullopt}};
  expect_rows(kRows, true);
  for (const Row& row : kRows) EXPECT_EQ(shell_death(row.line, false), std::nullopt) << row.line;
}

}  // namespace
}  // namespace dsafuzz
