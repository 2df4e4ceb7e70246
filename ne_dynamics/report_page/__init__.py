"""A report as one HTML file: text, tables and pictures, without a script and without a network.

``page`` says what a report is made of, ``chart`` turns a drawing into SVG that follows the colours
of the page, ``page_html`` makes the HTML, and ``page_file`` puts it in its place. Nothing here
knows what the report is about.
"""
