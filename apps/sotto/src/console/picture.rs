//! A bundle as a QR code, for a device with a camera and without a cable.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use qrcodegen::{QrCode, QrCodeEcc};
use zeroize::Zeroizing;

/// The command that makes a bundle of a picture of its code: it is compressed, and written in base 64.
pub(super) const READING: &str = "zbarimg --raw --quiet code.png | base64 -d | gunzip > ";

/// Largest bundle that is tried, in bytes. Longer ones do not fit into a code, however they are compressed.
const LARGEST: u64 = 64 << 10;

/// Returns the rows of the code of a bundle, of 0 and 1.
///
/// # Errors
/// The reason why there is none: the file is gone, or too long for a code.
pub(super) fn of_file(path: &Path) -> Result<Vec<String>, &'static str> {
    const GONE: &str = "is not in its file any more: renew it";
    const LONG: &str = "is too long for a QR code: copy its file";
    let length = fs::metadata(path).map_err(|_| GONE)?.len();
    if length > LARGEST {
        return Err(LONG);
    }
    let bytes = Zeroizing::new(fs::read(path).map_err(|_| GONE)?);
    of_bytes(&bytes).ok_or(LONG)
}

fn of_bytes(bytes: &[u8]) -> Option<Vec<String>> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(bytes).ok()?;
    let packed = Zeroizing::new(packed.finish().ok()?);
    let text = Zeroizing::new(STANDARD.encode(&*packed));
    let code = QrCode::encode_text(&text, QrCodeEcc::Low).ok()?;
    let bit = |x, y| if code.get_module(x, y) { '1' } else { '0' };
    Some((0..code.size()).map(|y| (0..code.size()).map(|x| bit(x, y)).collect()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_bundles_have_a_code_and_long_ones_none() {
        let rows = of_bytes(&[7; 4000]).unwrap();
        assert!(rows.len() >= 21 && rows.iter().all(|row| row.len() == rows.len()));
        // The finder patterns of three corners.
        assert!(rows[0].starts_with("1111111") && rows[0].ends_with("1111111"));
        assert!(rows[rows.len() - 1].starts_with("1111111"));
        let random: Vec<u8> = (0..4000_u32).map(|at| blake3::hash(&at.to_le_bytes()).as_bytes()[0]).collect();
        assert_eq!(of_bytes(&random), None);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("boiler.bundle");
        assert!(of_file(&file).unwrap_err().contains("renew"));
        fs::write(&file, random).unwrap();
        assert!(of_file(&file).unwrap_err().contains("too long"));
        fs::write(&file, [7; 4000]).unwrap();
        assert_eq!(of_file(&file).unwrap(), rows);
    }
}
