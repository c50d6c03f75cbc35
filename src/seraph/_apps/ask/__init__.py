"""A page that asks which rows are the same, and learns while you answer.

A server on this machine shows a screen of rows at a time. Everything that a request needs is in
memory or in one file of answers; a worker thread learns and chooses the next questions::

    browser <-> _server <-> _session -> _answers    on disk at once
                                     -> _learning   refits, judgment, picture
                                     -> _questions  the next screens
                                     -> _finish     `seraph fit` at the end

`static` and `templates` hold the page: plain modules and a style sheet, all of them ours.
"""
