// The words are those of the translations that glibc 2.36 and bash 5.2 ship, and of older ones where they differ. A
// language that lacks a word prints the English one, so signal and remark are looked up apart.
#include "repro/parse_shell_death.h"

#include <algorithm>
#include <array>

#include "repro/scan.h"

namespace dsafuzz {
namespace {

struct Word {
  std::string_view text;
  ShellDeath death;
};
using enum ShellDeath;
constexpr std::array kSignals{
    // bash and dash, csh, zsh
    Word{"Aborted", abort}, Word{"Segmentation fault", segfault}, Word{"Killed", kill}, Word{"Abort", abort},
    Word{"abort", abort}, Word{"segmentation fault", segfault}, Word{"killed", kill},
    // bg, ca, cs, da
    Word{"Прекъснат", abort}, Word{"Нарушение на разделянето(segfault)", segfault}, Word{"Безусловно прекъснат", kill},
    Word{"Avortat", abort}, Word{"Violació de segment", segfault}, Word{"Matat", kill},
    Word{"Neúspěšně ukončen (SIGABRT)", abort}, Word{"Neoprávněný přístup do paměti (SIGSEGV)", segfault},
    Word{"Zabit (SIGKILL)", kill}, Word{"Afbrudt (SIGABRT)", abort}, Word{"Segmentfejl", segfault}, Word{"Dræbt", kill},
    // de, el, es, fi
    Word{"Abgebrochen", abort}, Word{"Speicherzugriffsfehler", segfault}, Word{"Getötet", kill},
    Word{"Ακυρώθηκε", abort}, Word{"Σφάλμα κατάτμησης (segmentation fault)", segfault}, Word{"Σκοτώθηκε", kill},
    Word{"Abortado", abort}, Word{"Violación de segmento", segfault}, Word{"Terminado (killed)", kill},
    Word{"Keskeytetty", abort}, Word{"Muistialueen ylitys", segfault}, Word{"Tapettu", kill},
    // fr, hu, id, it
    Word{"Abandon", abort}, Word{"Erreur de segmentation", segfault}, Word{"Processus arrêté", kill},
    Word{"Félbeszakítva", abort}, Word{"Szegmentálási hiba", segfault}, Word{"Kilőve", kill}, Word{"Dibatalkan", abort},
    Word{"Kerusakan segmentasi", segfault}, Word{"Terbunuh", kill}, Word{"Annullato", abort},
    Word{"Errore di segmentazione", segfault}, Word{"Ucciso", kill},
    // ja, ko, zh_CN, zh_TW
    Word{"中止", abort}, Word{"強制終了", kill}, Word{"セグメンテーションフォルト", segfault},
    Word{"セグメンテーション違反", segfault}, Word{"중지됨", abort}, Word{"세그멘테이션 오류", segfault},
    Word{"죽었음", kill}, Word{"已放弃", abort}, Word{"段错误", segfault}, Word{"已杀死", kill}, Word{"已中止", abort},
    Word{"程式記憶體區段錯誤", segfault}, Word{"強制結束", kill},
    // zh_CN in the bytes of GBK
    Word{"\xd2\xd1\xb7\xc5\xc6\xfa", abort}, Word{"\xb6\xce\xb4\xed\xce\xf3", segfault},
    // nb, nl, pl, pt and pt_BR
    Word{"Avbrutt (SIGABRT)", abort}, Word{"Minnesegmentsfeil", segfault}, Word{"Drept", kill},
    Word{"Afgebroken", abort}, Word{"Segmentatiefout", segfault}, Word{"Geëlimineerd", kill}, Word{"Przerwane", abort},
    Word{"Naruszenie ochrony pamięci", segfault}, Word{"Unicestwiony", kill}, Word{"Falta de segmentação", segfault},
    Word{"Falha de segmentação", segfault}, Word{"Morto", kill},
    // ru, sk, sv, tr, uk, vi
    Word{"Аварийный останов", abort}, Word{"Ошибка сегментирования", segfault}, Word{"Убито", kill},
    Word{"Zrušené", abort}, Word{"Chyba segmentácie", segfault}, Word{"Zabitý", kill},
    Word{"Avbruten (SIGABRT)", abort}, Word{"Segmenteringsfel", segfault}, Word{"Dödad", kill},
    Word{"İptal edildi", abort}, Word{"Parçalama arızası", segfault}, Word{"Süreç durduruldu", kill},
    Word{"Перервано", abort}, Word{"Помилка адресування", segfault}, Word{"Вбито", kill}, Word{"Bị hủy bỏ", abort},
    Word{"Lỗi phân đoạn", segfault}, Word{"Bị buộc kết thúc", kill}};

constexpr std::array<std::string_view, 30> kCores{"(core dumped)",
                                                  "(паметта е разтоварена)",
                                                  "(s'ha bolcat la memòria)",
                                                  "(core dumped [obraz paměti uložen])",
                                                  "(smed kerne)",
                                                  "(Speicherabzug geschrieben)",
                                                  "(`core' generado)",
                                                  "(luotiin core-tiedosto)",
                                                  "(core készült)",
                                                  "(core didump)",
                                                  "(core dump creato)",
                                                  "(コアダンプ)",
                                                  "(コアダンプされました)",
                                                  "(코어 덤프됨)",
                                                  "(kjerne lagret i fil)",
                                                  "(geheugendump gemaakt)",
                                                  "(zrzut pamięci)",
                                                  "(núcleo despejado)",
                                                  "(imagem do núcleo gravada)",
                                                  "(образ памяти сброшен на диск)",
                                                  "(стек памяти сброшен на диск)",
                                                  "(bol uložený výpis pamäte)",
                                                  "(minnesutskrift skapad)",
                                                  "(çekirdek döküldü)",
                                                  "(збережено знімок оперативної пам’яті)",
                                                  "(xuất ra core)",
                                                  "（核心已转储）",
                                                  "(核心已转储)",
                                                  "(核心已傾印)",
                                                  "(\xba\xcb\xd0\xc4\xd2\xd1\xd7\xaa\xb4\xa2)"};

// A signal's words and the remark on the core, anywhere in the line: after a progress bar or a logger's margin too.
std::optional<ShellDeath> death_with_core(std::string_view s) {
  for (std::size_t i = 1; i < s.size(); ++i) {
    const std::string_view rest = s.substr(i);
    if (!rest.starts_with('(') && !rest.starts_with("（")) continue;
    if (!std::ranges::any_of(kCores, [&](std::string_view core) { return rest.starts_with(core); })) continue;
    const std::string_view before = trimmed(s.substr(0, i));
    for (const Word& word : kSignals) {
      if (!before.ends_with(word.text)) continue;
      // Not the end of a longer word, whatever its alphabet.
      const std::string_view left = before.substr(0, before.size() - word.text.size());
      if (left.empty() || (static_cast<unsigned char>(left.back()) < 0x80 && !is_word(left.back()))) return word.death;
    }
  }
  return std::nullopt;
}

// `s` begins with a signal's words, and then ends; or, where `by_shell`, has the command after two blanks or more,
// since the shell aligns it.
std::optional<ShellDeath> death_at(std::string_view s, bool by_shell) {
  for (const Word& word : kSignals) {
    std::string_view rest = s;
    if (take(rest, word.text) && (rest.empty() || (by_shell && rest.starts_with("  ")))) return word.death;
  }
  return std::nullopt;
}

// `[1]+  Aborted   python a.py`, `[1]    81 abort  python a.py`: the words begin after the job and the process.
bool take_job(std::string_view& s) {
  std::string_view rest = s;
  if (!take(rest, "[") || !take_number(rest) || !take(rest, "]")) return false;
  skip_blanks(rest);  // zsh has them before the sign, bash after it
  if (!take(rest, "+")) take(rest, "-");
  skip_blanks(rest);
  std::string_view words = rest;
  if (take_number(words) && words.starts_with(' ')) {
    skip_blanks(words);
    rest = words;
  }
  s = rest;
  return true;
}

// `run.sh: line 3: 81 Aborted`: takes up to the words. "line" is translated too, so only the two numbers are asked for.
bool take_script(std::string_view& s) {
  constexpr std::size_t kLongestName = 200;
  bool number_before = false;
  for (std::size_t i = 0; i < std::min(s.size(), kLongestName); ++i) {
    if (is_digit(s[i])) number_before = true;
    if (s[i] != ':' || !number_before) continue;
    std::string_view rest = s.substr(i + 1);
    skip_blanks(rest);
    if (!take_number(rest) || !rest.starts_with(' ')) continue;
    skip_blanks(rest);
    s = rest;
    return true;
  }
  return false;
}

}  // namespace

std::optional<ShellDeath> shell_death(std::string_view line, bool at_end) {
  if (const auto death = death_with_core(line)) return death;
  std::string_view s = trimmed(line);
  const bool by_shell = take(s, "zsh: ") || take_job(s) || take_script(s);
  return by_shell || at_end ? death_at(s, by_shell) : std::nullopt;
}

}  // namespace dsafuzz
