//! Style sheets, and the classes of series in them.

/// Colours on light pages: `--back`, `--text`, `--quiet`, `--rule`, `--raised`, and `--c0` … `--c7` of series.
pub const LIGHT: &str = include_str!("light.css");

/// The same colours for readers who prefer dark pages. Follows [`LIGHT`].
pub const DARK: &str = include_str!("dark.css");

/// Marks, coloured by the `color` of their element, and the classes of [`colour_class`] and [`dash_class`].
pub const MARKS: &str = include_str!("marks.css");

/// Number of colours in the style sheets.
const COLOURS: usize = 8;
/// Number of dash patterns in the style sheet, for more lines than colours.
const DASHES: usize = 4;

/// Returns the class of the colour of the `at`-th series.
pub fn colour_class(at: usize) -> String {
    format!("c{}", at % COLOURS)
}

/// Returns the class of the dash pattern of the `at`-th series.
pub fn dash_class(at: usize) -> String {
    format!("d{}", at / COLOURS % DASHES)
}
