//! Copies of a device's record, sealed under the device's secret: in its registration, here and in the cloud, and in its
//! bundles. They bring the record back.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::{Deserialize, Serialize};
use sotto_keys::DeviceSecret;
use sotto_ring::SecretRng;

use super::records::DeviceRecord;

/// Largest sealed copy in bytes: what the cloud takes.
const LARGEST_SEALED: usize = 64 << 10;

/// Largest document in a copy, in bytes.
const LARGEST_DOCUMENT: u64 = 16 << 20;

/// A device as its owner knows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Copy {
    pub(crate) record: DeviceRecord,
}

impl Copy {
    /// Seals it, compressed by zlib. Returns None if it is longer than the cloud takes.
    pub(super) fn seal(&self, secret: &DeviceSecret, rng: &mut impl SecretRng) -> Option<String> {
        // The generation belongs to the folder.
        let record =
            DeviceRecord { generation: 0, unregistered: false, removed: None, ..self.record.clone() };
        let document = serde_json::to_vec(&Self { record }).ok()?;
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&document).ok()?;
        let sealed = secret.seal(&self.record.device, &encoder.finish().ok()?, rng);
        (sealed.len() <= LARGEST_SEALED).then(|| hex::encode(sealed))
    }

    /// Opens a sealed copy. Returns None if it was sealed for another device or under another secret.
    pub(crate) fn open(secret: &DeviceSecret, device: &str, sealed: &[u8]) -> Option<Self> {
        let compressed = secret.open(device, sealed)?;
        let mut document = Vec::new();
        ZlibDecoder::new(&compressed[..]).take(LARGEST_DOCUMENT).read_to_end(&mut document).ok()?;
        let copy: Self = serde_json::from_slice(&document).ok()?;
        (copy.record.device == device && copy.record.has_names()).then_some(copy)
    }

    /// Opens a sealed copy in hexadecimal.
    pub(crate) fn open_text(secret: &DeviceSecret, device: &str, sealed: &str) -> Option<Self> {
        Self::open(secret, device, &hex::decode(sealed).ok()?)
    }

    /// Orders copies of one device by age: by the number of their bundles, then by the time of the last.
    pub(crate) fn age(&self) -> (usize, i64) {
        let last = self.record.bundles.last().map_or(i64::MIN, |bundle| bundle.made_at);
        (self.record.bundles.len(), last)
    }
}

/// Opens a sealed record and returns its document, for the fuzz targets. Returns None if it is none.
#[doc(hidden)]
#[must_use]
pub fn opened_record(secret: &DeviceSecret, device: &str, sealed: &[u8]) -> Option<Vec<u8>> {
    serde_json::to_vec(&Copy::open(secret, device, sealed)?).ok()
}

/// Seals a document as a record, for the fuzz targets. Returns None if it is none, or too long.
#[doc(hidden)]
#[must_use]
pub fn sealed_record(secret: &DeviceSecret, document: &[u8], rng: &mut impl SecretRng) -> Option<Vec<u8>> {
    let copy: Copy = serde_json::from_slice(document).ok()?;
    hex::decode(copy.seal(secret, rng)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::records::BundleRecord;

    fn copy(bundles: usize) -> Copy {
        let made_at = |number: usize| BundleRecord { made_at: number as i64, streams: Vec::new() };
        let record = DeviceRecord {
            version: 1,
            device: "boiler".into(),
            verifying_key: "01".repeat(32),
            bundles: (0..bundles).map(made_at).collect(),
            removed: None,
            generation: 0,
            unregistered: false,
            came_back: false,
        };
        Copy { record }
    }

    #[test]
    fn a_copy_opens_for_its_device_alone() {
        let mut rng = sotto_ring::secure_rng().expect("randomness");
        let secret = DeviceSecret::generate(&mut rng);
        let sealed = copy(3).seal(&secret, &mut rng).expect("short");
        assert_eq!(Copy::open_text(&secret, "boiler", &sealed), Some(copy(3)));
        assert_eq!(Copy::open_text(&secret, "cellar", &sealed), None);
        assert_eq!(Copy::open_text(&DeviceSecret::generate(&mut rng), "boiler", &sealed), None);
        assert_eq!(Copy::open_text(&secret, "boiler", "no hexadecimal"), None);
        assert!(copy(3).age() > copy(2).age() && copy(1).age() > copy(0).age());
    }

    #[test]
    fn a_name_that_leads_out_of_a_folder_is_refused() {
        let mut rng = sotto_ring::secure_rng().expect("randomness");
        let secret = DeviceSecret::generate(&mut rng);
        let with = |name: &str| {
            let stream = format!(
                r#"{{"stream": {name:?}, "parameters": "", "encoding": {{"integer": {{"bits": 8}}}}, "ticks": 1}}"#
            );
            let stream = serde_json::from_str(&stream).expect("a stream");
            let mut copy = copy(0);
            copy.record.bundles.push(BundleRecord { made_at: 0, streams: vec![stream] });
            let sealed = copy.seal(&secret, &mut sotto_ring::secure_rng().expect("randomness"));
            Copy::open_text(&secret, "boiler", &sealed.expect("short"))
        };
        assert!(with("exact-5m.2").is_some());
        for name in ["../exact", "a/b", "", "/tmp/x"] {
            assert!(with(name).is_none(), "{name}");
        }
    }

    #[test]
    fn a_document_without_end_is_cut() {
        let mut rng = sotto_ring::secure_rng().expect("randomness");
        let secret = DeviceSecret::generate(&mut rng);
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&vec![b' '; 40 << 20]).expect("compressed");
        let sealed = secret.seal("boiler", &encoder.finish().expect("compressed"), &mut rng);
        assert_eq!(Copy::open(&secret, "boiler", &sealed), None);
    }
}
