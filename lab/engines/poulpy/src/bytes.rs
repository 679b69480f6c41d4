//! Objects to bytes and back, in the library's format: eight bytes for each coefficient of a limb.

use poulpy_ckks::prelude::*;
use poulpy_core::layouts::{GLWEAutomorphismKeyAlloc as _, GLWEPublicKeyAlloc as _, GLWETensorKeyAlloc as _};
use poulpy_hal::api::ScratchOwnedBorrow as _;
use poulpy_hal::layouts::{ReaderFrom, WriterTo};
use serde_json::Value;

use crate::backend::RotationKey;
use crate::session::{Session, near};
use crate::timer::Timer;
use crate::{Failure, Request, unsupported};

/// A set of rotation keys, written one after the other.
struct Keys(Vec<RotationKey>);

impl WriterTo for Keys {
    fn write_to<W: std::io::Write>(&self, writer: &mut W) -> std::io::Result<()> {
        self.0.iter().try_for_each(|key| key.write_to(writer))
    }
}

impl ReaderFrom for Keys {
    fn read_from<R: std::io::Read>(&mut self, reader: &mut R) -> std::io::Result<()> {
        self.0.iter_mut().try_for_each(|key| key.read_from(reader))
    }
}

impl Session {
    pub fn bytes(&self, request: &Request, timer: &Timer) -> Result<Value, Failure> {
        if request.codec.as_deref().is_some_and(|codec| codec != "none") {
            return Err(unsupported());
        }
        let parse = request.operation == "parse";
        let (maker, mut scratch) = (self.maker(), self.maker().scratch());
        let (it, ring) = (&self.parameters, &self.ring);
        match request.object.as_deref().unwrap_or("ciphertext") {
            "ciphertext" => {
                let empty = || maker.ciphertext(it.data_bits);
                let right = |read: &_| self.says(read, &self.slots[0]);
                through(&self.ciphertext[0], empty, parse, timer, right)
            }
            "public_key" => {
                let key = maker.public(&self.secret, &mut scratch);
                let empty = || ring.glwe_public_key_alloc_from_infos(&it.ciphertext(it.data_bits));
                through(&key, empty, parse, timer, |read| {
                    let mut scratch = maker.scratch();
                    let read = maker.prepared_public(read, &mut scratch);
                    let made = maker.encrypt_public(&self.plain[0], &read, &mut scratch)?;
                    self.says(&made, &self.slots[0])
                })
            }
            "relin_keys" => {
                let key = maker.product_key(&self.secret, &mut scratch);
                let empty = || ring.glwe_tensor_key_alloc_from_infos(&it.product_key());
                through(&key, empty, parse, timer, |read| {
                    let mut scratch = maker.scratch();
                    let read = maker.prepared_product_key(read, &mut scratch);
                    let mut made = maker.ciphertext(it.product_bits());
                    let [a, b] = &self.ciphertext;
                    ring.ckks_mul_into(&mut made, a, b, &read, &mut scratch.borrow())?;
                    self.says(&made, &self.expected(|x, y| x * y))
                })
            }
            "galois_keys" => {
                let elements = self.elements();
                let keys =
                    elements.iter().map(|element| maker.rotation_key(*element, &self.secret, &mut scratch));
                let keys = Keys(keys.collect());
                let one = || ring.glwe_automorphism_key_alloc_from_infos(&it.rotation_key());
                let empty = || Keys(elements.iter().map(|_| one()).collect());
                through(&keys, empty, parse, timer, |read| {
                    let mut scratch = maker.scratch();
                    let prepared = |key| maker.prepared_rotation_key(key, &mut maker.scratch());
                    let keys = elements
                        .iter()
                        .copied()
                        .zip(read.0.iter().map(prepared))
                        .collect::<std::collections::HashMap<_, _>>();
                    let mut made = maker.ciphertext(it.data_bits);
                    ring.ckks_rotate_into(1, &mut made, &self.ciphertext[0], &keys, &mut scratch.borrow())?;
                    let decoded = maker.decrypt_decode(&made, &self.secret, &mut scratch)?;
                    Ok(near(&decoded, &self.rotated()))
                })
            }
            _ => Err(unsupported()),
        }
    }
}

/// Checks and times writing or parsing.
fn through<O: WriterTo + ReaderFrom>(
    object: &O,
    empty: impl Fn() -> O,
    parse: bool,
    timer: &Timer,
    right: impl FnOnce(&O) -> Result<bool, Failure>,
) -> Result<Value, Failure> {
    let write = || -> Result<Vec<u8>, Failure> {
        let mut written = Vec::new();
        object.write_to(&mut written)?;
        Ok(written)
    };
    let read = |bytes: &[u8]| -> Result<O, Failure> {
        let mut made = empty();
        made.read_from(&mut &bytes[..])?;
        Ok(made)
    };
    let written = write()?;
    let size = Some(written.len());
    if parse {
        return timer.time(|| (), |()| read(&written), |made| right(&made), size);
    }
    timer.time(|| (), |()| write(), |bytes| right(&read(&bytes)?), size)
}
