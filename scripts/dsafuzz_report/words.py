"""How numbers, times and states are said, the same in every form of the report."""

AGREEMENT = {"catalogue_differs": "differs from the catalogue", "acceptance_differs": "one accepts what another refuses",
             "manner_differs": "refused in different ways", "agrees": "all agree", "not_run": "not run"}
STATE_WORDS = {"new": "new in the last run", "gone": "no longer shows in the last run", "known": "seen again in the last run",
               "earlier": "found earlier, not met in the last run", "unrecorded": "no run is recorded"}
STATE_MARKS = {"new": "▲", "gone": "✓", "known": "■", "earlier": "◇", "unrecorded": "◇"}


def duration(seconds):
    if seconds is None:
        return "?"
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def short(number):
    """Three digits and a unit; exact below 10,000."""
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if number >= limit:
            return f"{number / (limit if unit != 'k' else 1e3):.3g} {unit}"
    return f"{number:,}"


def when(time):
    return time.replace("T", " ").replace("Z", " UTC") if time else ""
