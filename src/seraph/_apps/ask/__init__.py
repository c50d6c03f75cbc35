"""A page that asks "same or different?" and learns while you answer.

A server on this machine shows two rows at a time. Everything that a request needs is in memory or
in one file of answers; a worker thread learns and chooses the next questions::

    browser <-> _server <-> _session -> _answers    on disk at once
                                     -> _learning   refits, test, picture
                                     -> _questions  what to ask next
                                     -> _finish     `seraph fit` at the end

`static` and `templates` hold the page: plain modules and a style sheet, all of them ours.
"""
