"""What ``seraph demo`` shows, on data of scikit-learn."""
