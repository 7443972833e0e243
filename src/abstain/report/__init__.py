"""What renderings share: tables in Markdown, the style of figures, and the shell and templates of pages."""
