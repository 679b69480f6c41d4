//! The windows in whose place a window comes.

use sotto_pack::WindowDescription;

/// The windows that a window replaces, and the names of the channels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The numbers of the windows, ascending.
    pub windows: Vec<u64>,
    /// The channels.
    pub channels: Vec<String>,
}

impl Names {
    /// Returns what a description names; nothing if it replaces no window.
    pub(super) fn of(description: &WindowDescription) -> Self {
        let Some(replaces) = &description.replaces else { return Self::default() };
        let channels = description.layout.channels();
        let name = |column: &u16| channels.get(usize::from(*column)).map(|channel| channel.name.clone());
        let names = replaces.channels.iter().filter_map(name).collect();
        Self { windows: replaces.windows.clone(), channels: names }
    }

    /// Returns true if no window is named.
    pub(super) fn is_empty(&self) -> bool {
        self.windows.is_empty()
    }
}
