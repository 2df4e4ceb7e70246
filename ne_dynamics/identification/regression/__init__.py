"""The linear model of efforts: what is fitted and believed, rows, their triangle, the solver."""
