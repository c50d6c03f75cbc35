"""Applications: programs made of the library, which nothing else imports.

::

    cli   the command `seraph`, and the tables that users hand to it
    ask   the labelling page
    demo  the demonstrations
"""
