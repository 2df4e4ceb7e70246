"""The mathematics, over generic scalars."""
