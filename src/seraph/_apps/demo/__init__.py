"""What ``seraph demo`` shows, on data that ships with the package."""
