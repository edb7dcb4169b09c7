"""Small plots for RESULTS.md."""


def draw(file, title, x, y, lines, log_y=False):
    """lines: {name: [(x, y)]}; the x axis is logarithmic."""
    # Imported only where it is needed: bench/run installs this package and must itself run on machines that do not have it.
    import matplotlib  # pylint: disable=import-outside-toplevel

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt  # pylint: disable=import-outside-toplevel

    figure, axes = plt.subplots(figsize=(5, 3), dpi=80)
    for name, points in lines.items():
        axes.plot([point[0] for point in points], [point[1] for point in points], marker="o", markersize=3, label=name)
    axes.set_xscale("log")
    if log_y:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.set_title(title, fontsize=9)
    axes.set_xlabel(x, fontsize=8)
    axes.set_ylabel(y, fontsize=8)
    axes.tick_params(labelsize=7)
    axes.grid(True, alpha=0.3)
    axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(file)
    plt.close(figure)
    return file.name
