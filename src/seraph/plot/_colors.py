"""Colors and markers that tell classes apart."""

# Colors that most color-blind people can distinguish: those of Okabe and Ito (2008) except
# yellow, which is hard to see on white, and three darker ones of Tol (2021). Each class also has
# its own marker.
BLUE, RED = "#0072B2", "#D55E00"
COLORS = (
    BLUE, "#E69F00", "#009E73", RED, "#CC79A7", "#56B4E9", "black", "#882255", "#999933", "#332288"
)  # fmt: skip
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "*")
