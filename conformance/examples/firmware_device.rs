//! Makes and checks the data of the example firmware.
//!
//! With `provision`, `cargo run --release --package sotto-conformance --example firmware_device -- provision` writes
//! the provisioning data: the public test secret of a device, its stream's mask key and id. With `open` it reads the
//! lines that firmware prints, checks the messages in them, and opens their sum.

use std::path::Path;
use std::{env, fs, io};

use sotto_compact::{MaskSum, Sum};
use sotto_conformance::firmware;
use sotto_decrypt::open_compact;
use sotto_keys::{SecretKey, SigningIdentity};
use sotto_wire::Envelope;

type Error = Box<dyn std::error::Error>;

fn main() -> Result<(), Error> {
    match env::args().nth(1).as_deref() {
        Some("provision") => provision(),
        Some("open") => open(),
        _ => Err("provision or open".into()),
    }
}

fn provision() -> Result<(), Error> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/device/firmware/provision");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("secret.bin"), firmware::secret_bits_of_device())?;
    fs::write(folder.join("mask-key.bin"), firmware::masks().0)?;
    fs::write(folder.join("stream-id.bin"), firmware::stream().id().0)?;
    println!("{:?}", firmware::profile().form());
    Ok(())
}

/// Each line is a name and bytes in hexadecimal.
fn open() -> Result<(), Error> {
    let profile = firmware::profile();
    let form = *profile.form();
    let (mut sum, mut masks) = (Sum::new(&form), MaskSum::new(&form));
    let mut expected = vec![0; form.places()];
    let identity = SigningIdentity::from_bytes(&firmware::SIGNING_KEY);
    let (mut salt, mut sequence, mut head, mut signature) = (None, None, None, None);
    for line in io::stdin().lines() {
        let line = line?;
        let Some((name, text)) = line.split_once(' ') else { continue };
        match name {
            "salt" => salt = Some(hex::decode(text)?.try_into().map_err(|_| "a salt has 12 bytes")?),
            "head" => head = Some(hex::decode(text)?),
            "signature" => signature = Some(hex::decode(text)?),
            "sequence" => sequence = Some(u64::from_str_radix(text, 16)?),
            "body" => {
                let sequence = sequence.take().ok_or("a body without its number")?;
                let mask = firmware::masks().mask(salt.as_ref().ok_or("a body before the salt")?, sequence);
                let body = hex::decode(text)?;
                sum.add(&body, 1)?;
                let signed = signature.take();
                let head: Vec<u8> = head.take().ok_or("a body before its head")?;
                let message = [&head[..], &body, signed.as_deref().unwrap_or(&[0; 64])].concat();
                let envelope = Envelope::read_window(&message, &firmware::stream())?;
                if envelope.header().sequence != sequence || envelope.header().readings != 16 {
                    return Err("the window's head is another one's".into());
                }
                if signed.is_some() {
                    envelope.verify(&identity.verifying_key())?;
                }
                println!("a message of {} bytes", message.len());
                masks.add(&mask, 1);
                for (place, total) in expected.iter_mut().enumerate() {
                    *total += firmware::reading(sequence, place);
                }
            }
            _ => {}
        }
    }
    let key = SecretKey::derive(&firmware::device(), profile.params());
    let opened = open_compact(&key, &profile, &sum, &masks)?.into_residues();
    if opened != expected {
        return Err(format!("opened {opened:?}, expected {expected:?}").into());
    }
    println!("{} windows add up to {opened:?}", sum.weights().total());
    Ok(())
}
