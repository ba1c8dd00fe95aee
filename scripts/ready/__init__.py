"""Parts of the script that builds the ready model."""
