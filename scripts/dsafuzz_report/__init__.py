"""The report on a campaign's output folder: what scripts/report runs.

`database` and `findings` read, `assemble` joins what they read into one Report, and `html`, `markdown` and `tensorboard`
each write it in a form of their own; `plots` makes the page's charts. Whatever is read may be anyone's: reading takes
only what has the type that it should, and every writer escapes.
"""
