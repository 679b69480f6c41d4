//! Windows of a log in whose place others come (docs/adr/0020).

use sotto_pack::Replaced;

use super::mirror::StreamLog;

/// Returns the windows of a stream that others replace.
pub(crate) fn replaced(log: &StreamLog) -> Replaced {
    let mut all = Replaced::default();
    for entry in log.pieces().map(|(first, _)| first).filter(super::Entry::replaces) {
        if let Some(description) = entry.description() {
            all.add(entry.sequence(), &description);
        }
    }
    all
}
