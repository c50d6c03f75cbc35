"""From distances to decisions: are two rows alike, which class has a row, what to ask next.

::

    _pair_classifier  PairClassifier; _classifier  MetricClassifier
    _space            ForestSpace: learned coordinates beside what a forest knows
    _models           what these have in common: a learner, or a pipeline that ends in one
    _folds            MarksKFold: no point is on both sides of a split
    _held_out         distances of pairs whose points a metric has not seen
    _threshold        thresholds and calibrated probabilities, chosen and judged on such pairs
    _queries          query_rows, query_screens
    _judge_screens    what screens say about the distance learned from them
"""
