"""The papers' experiments, re-run by one command, and what they did not try.

A sweep is a list of points; measuring a point gives records. Results are kept point by point, so a long run can be
stopped and continued. Statements of the papers are held against them, and the page with its plots is made from them alone.

| module | what |
|---|---|
| sweep, measure | what an experiment is; how one overlay is measured |
| greedy_merge | gm: Chockler et al. 2007 |
| divide_conquer, divide_conquer_statements | dc: Chen, Jacobsen and Vitenberg 2010 |
| low_degree, diameter_two | low: Onus and Richa 2016 |
| k_connected | ktco: Chen, Vitenberg and Jacobsen |
| churn, churn_statements | shadow: the dynamic maintenance of overlays under churn |
| examples | the hand-made instances of all of them |
| beyond, sources | what the papers did not try; where real interests come from |
| catalogue | all of them in the order of the page |
| run, results | the run, point by point, and what it leaves on disk |
| page, plots | the page made from that, and its pictures |
"""
