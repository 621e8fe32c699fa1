"""What people see: sentences, pictures, pages, notebooks, the command line."""
