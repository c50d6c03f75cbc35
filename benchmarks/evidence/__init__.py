"""Evidence: what learning a distance gains, on sets that nothing was chosen on.

``python -m benchmarks.evidence fetch|run|report``; see docs/evidence.md. The figures of the page
come from one run on the tagged tree. To go on with a run that was stopped::

    git clone . ../evidence-tree && git -C ../evidence-tree checkout d252ec4b
    cp docs/results/evidence.csv ../evidence.csv
    cd ../evidence-tree  # in an environment with '.[all]' and the group evidence
    python -m benchmarks.evidence run --sets judging --samplings 20 --log ../evidence.csv

Then copy the log back, and ``python -m benchmarks.evidence report`` writes the page, the tables
and the picture. Networks compute slightly different vectors on another processor; all methods get
the same ones.
"""
