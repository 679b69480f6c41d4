//! Numbers of bundles. Each bundle's streams have its number in their names, so that no stream of a device begins again.

use std::fs;

use super::records::DeviceRecord;
use super::verifying::log_folder;
use crate::declared::Plant;
use crate::error::OwnerError;

/// Returns the number of the next bundle, from 0: above those of all bundles that the record or the logs know. The logs
/// may know more than a record that came back from an older copy.
pub(super) fn next(plant: &Plant, record: &DeviceRecord) -> Result<usize, OwnerError> {
    let of_record = record.bundles.iter().flat_map(|bundle| &bundle.streams).map(|s| of_stream(&s.stream));
    let entries = fs::read_dir(log_folder(plant, &record.device)).into_iter().flatten();
    let of_log = entries.filter_map(|entry| {
        let name = entry.ok()?.file_name();
        Some(of_stream(name.to_str()?.strip_suffix(".head")?))
    });
    let highest = of_record.chain(of_log).max();
    Ok(highest.map_or(0, |highest| highest + 1).max(record.bundles.len()))
}

/// Returns the number of the bundle whose stream this is: `exact-5m` is of bundle 0, `exact-5m.2` of bundle 1.
fn of_stream(stream: &str) -> usize {
    let number = stream.rsplit_once('.').and_then(|(_, number)| number.parse::<usize>().ok());
    number.and_then(|number| number.checked_sub(1)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_streams_name_tells_its_bundle() {
        let streams = ["exact-5m", "exact-5m.2", "real-1h.17", "exact-1.5s", "exact-0.5s.3", "old.0"];
        assert_eq!(streams.map(of_stream), [0, 1, 16, 0, 2, 0]);
    }
}
