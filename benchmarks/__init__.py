"""What svc costs, each time beside a peer or a limit measured in the same run: the ratio is the result.

``python -m benchmarks`` runs all, ``python -m benchmarks http`` one; ``--quick`` takes smaller samples. Runs are
interleaved and medians printed. Nothing here asserts a time: machines differ, and a busy one says nothing.
"""
