"""Whether a challenger becomes champion, and whose answers change."""
