"""Secondary indexes over rows of a store: the protocol, its promise, and maintenance.

Knows neither records nor pages; both declare their indexes with it. The face is `table`.
"""
