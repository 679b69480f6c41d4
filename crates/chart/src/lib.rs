//! Charts as SVG for pages and files: scales with round ticks, marks, figures with labels for screen readers, light and
//! dark colours. Without I/O.
//!
//! A chart is a tree of [`Element`]s. A scale says where a value lies, 0 … 1; its caller makes a position of it.
//!
//! ```
//! use sotto_chart::{Length, Linear, drawing, level, point, words_around};
//!
//! let scale = Linear::round(20.0, 30.0, 5);
//! let y = |value: f64| 100.0 * (1.0 - scale.part(value));
//! let mut chart = drawing("Temperature: 1 value").set("viewBox", "0 0 200 100");
//! for tick in scale.ticks() {
//!     chart = chart.children(level(40.0, Length::Percent(100.0), y(tick), &scale.label(tick)));
//! }
//! let dot = point(120.0, y(25.0), 2.5).tooltip("25 °C");
//! let svg = chart.child(dot).child(words_around(120.0, 40.0, "25 °C")).to_string();
//! assert!(svg.contains("aria-label=\"Temperature: 1 value\""));
//! assert!(svg.contains("<circle class=\"point\" cx=\"120\" cy=\"50\" r=\"2.5\"><title>25 °C</title></circle>"));
//! ```

mod bars;
mod colours;
mod element;
mod heat;
mod linear;
mod logarithmic;
mod marks;
mod time;

pub use bars::{Bar, Bars};
pub use colours::{DARK, LIGHT, MARKS, colour_class, dash_class};
pub use element::{Element, Length, escape};
pub use heat::{Heat, HeatCell};
pub use linear::{Linear, extent};
pub use logarithmic::Logarithmic;
pub use marks::{
    column, drawing, figure, level, line, path, point, rectangle, words, words_around, words_before,
};
pub use time::{LocalTime, TimeTick};
