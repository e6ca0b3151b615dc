"""Secondary indexes over rows of a store: the protocol, its promise, and maintenance.

It imports neither records nor pages; both declare their indexes with it. Its public names are in
`table`.
"""
