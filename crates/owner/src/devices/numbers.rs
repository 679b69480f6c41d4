//! Numbers of bundles. Each bundle's streams have its number in their names, so that no stream of a device begins again.
//!
//! Two copies of the plant's folder may give the same number. So a name without a tag is given only to the first bundle
//! of a new secret, or if the cloud has registered the bundle in place of the registration that the folder knows, which it
//! does once. Any other bundle has a random tag of 96 bits in the names of its streams, as many as the salt of a mask.

use std::fs;

use super::records::DeviceRecord;
use super::verifying::log_folders;
use crate::declared::Plant;
use crate::error::OwnerError;
use crate::files::random;

/// The number of a new bundle.
#[derive(Clone, Debug)]
pub(super) struct Number {
    /// From 0.
    number: usize,
    /// 24 hexadecimal digits that no other copy of the folder has.
    tag: Option<String>,
}

impl Number {
    /// Returns the number of the next bundle: above those of all bundles that the record or the logs know. The logs may
    /// know more than a record that came back from an older copy.
    pub(super) fn next(plant: &Plant, record: &DeviceRecord) -> Self {
        let of_record =
            record.bundles.iter().flat_map(|bundle| &bundle.streams).map(|s| of_stream(&s.stream));
        let entries =
            log_folders(plant, &record.device).flat_map(|folder| fs::read_dir(folder).into_iter().flatten());
        let of_log = entries.filter_map(|entry| {
            let name = entry.ok()?.file_name();
            Some(of_stream(name.to_str()?.strip_suffix(".head")?))
        });
        let highest = of_record.chain(of_log).max();
        let number = highest.map_or(0, |highest| highest + 1).max(record.bundles.len());
        Self { number, tag: None }
    }

    /// Returns the number with a random tag.
    pub(super) fn tagged(&self) -> Result<Self, OwnerError> {
        Ok(Self { tag: Some(hex::encode(random::<12>()?)), ..self.clone() })
    }

    /// Returns the name of a stream in this bundle.
    pub(super) fn stream(&self, name: &str) -> String {
        match (self.number, &self.tag) {
            (0, None) => name.to_owned(),
            (number, None) => format!("{name}.{}", number + 1),
            (number, Some(tag)) => format!("{name}.{}-{tag}", number + 1),
        }
    }
}

/// Returns the number of the bundle whose stream this is: `exact-5m` is of bundle 0, `exact-5m.2` and `exact-5m.2-TAG` of
/// bundle 1.
fn of_stream(stream: &str) -> usize {
    let number = stream.rsplit_once('.').and_then(|(_, number)| {
        let number = number.split_once('-').map_or(number, |(number, _)| number);
        number.parse::<usize>().ok()
    });
    number.and_then(|number| number.checked_sub(1)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_streams_name_tells_its_bundle() {
        let streams = ["exact-5m", "exact-5m.2", "real-1h.17", "exact-1.5s", "exact-0.5s.3", "old.0"];
        assert_eq!(streams.map(of_stream), [0, 1, 16, 0, 2, 0]);
        let number = Number { number: 2, tag: None };
        assert_eq!((number.stream("exact-5m").as_str(), of_stream("exact-5m.3")), ("exact-5m.3", 2));
        let (one, other) = (number.tagged().expect("a tag"), number.tagged().expect("a tag"));
        let [one, other] = [one, other].map(|number| number.stream("exact-0.5s"));
        assert_ne!(one, other);
        assert!(one.len() <= 64 && one.starts_with("exact-0.5s.3-") && of_stream(&one) == 2, "{one}");
    }
}
