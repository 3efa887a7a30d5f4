"""The command line of scripts/report."""

import argparse
import os
import sys
import tempfile

from .assemble import assemble
from .problem import ENVIRONMENT, Problem, one_line


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="report",
        description="Reports on an output folder of `dsafuzz fuzz` or `nightly`: what is new, what to do.",
        epilog="Exit codes: 0 written, 2 usage or input error, 3 a problem of the environment.",
    )
    parser.add_argument("out", metavar="OUT", help="the folder that was given to --out")
    parser.add_argument("--html", metavar="FILE", help="write one self-contained page")
    parser.add_argument(
        "--markdown",
        metavar="FILE",
        help="write a summary for a mail or a job; - is standard output, which is the default",
    )
    parser.add_argument("--tensorboard", metavar="FOLDER", help="write scalars of all runs as event files")
    parser.add_argument("--follow", action="store_true", help="keep writing scalars while the last run goes on")
    parser.add_argument("--no-database", dest="database", action="store_false", help="leave campaign.db alone")
    options = parser.parse_args(arguments)
    if options.follow and not options.tensorboard:
        parser.error("--follow is for --tensorboard")
    if options.tensorboard and not options.database:
        parser.error("--tensorboard shows what stands in the database")
    return options


def write(path, text):
    """The whole file or none of it."""
    if path == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    folder = os.path.dirname(path) or "."
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=".report-", dir=folder)
        try:
            with open(descriptor, "w", encoding="utf-8") as stream:
                stream.write(text)
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(temporary, 0o666 & ~mask)
            os.replace(temporary, path)
        except OSError:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise Problem(path, f"cannot be written: {error.strerror}", exit_code=ENVIRONMENT) from None


def run(options):
    if options.html or options.markdown or not options.tensorboard:
        report = assemble(options.out, options.database)
        if options.html:
            from .html import page  # imported where they are needed: Jinja2 is not there everywhere

            write(options.html, page(report, options.html))
        if options.markdown or not (options.html or options.tensorboard):
            from .markdown import summary

            write(options.markdown or "-", summary(report))
        if report.database:
            print(f"report: {report.database}", file=sys.stderr)
    if options.tensorboard:
        from .tensorboard import write_events

        write_events(options.out, options.tensorboard, options.follow)


def main(arguments=None):
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        run(parse(arguments))
    except Problem as problem:
        print(f"report: {problem.text}", file=sys.stderr)
        return problem.exit_code
    except ModuleNotFoundError as error:
        print(
            f"report: {error.name} is missing for {sys.executable} (scripts/setup; for "
            "TensorBoard, scripts/setup --more)",
            file=sys.stderr,
        )
        return ENVIRONMENT
    except OSError as error:
        print(f"report: {one_line(str(error))}", file=sys.stderr)
        return ENVIRONMENT
    except KeyboardInterrupt:
        return 130
    return 0
