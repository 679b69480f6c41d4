//! Measured generation of keys.

use poulpy_ckks::prelude::*;
use poulpy_hal::api::ScratchOwnedBorrow as _;
use serde_json::Value;

use crate::Failure;
use crate::session::{Session, near};
use crate::timer::Timer;

impl Session {
    /// Times keys in the form that operations use, preparation included.
    pub fn make_keys(&self, operation: &str, timer: &Timer) -> Result<Value, Failure> {
        let (maker, mut scratch) = (self.maker(), self.maker().scratch());
        let [a, b] = &self.ciphertext;
        match operation {
            "keygen" => timer.time(
                || (),
                |()| {
                    let secret = maker.secret();
                    let public = maker.public(&secret, &mut scratch);
                    let public = maker.prepared_public(&public, &mut scratch);
                    Ok((secret, public))
                },
                |(secret, public)| {
                    let mut scratch = maker.scratch();
                    let encrypted = maker.encrypt_public(&self.plain[0], &public, &mut scratch)?;
                    Ok(near(&maker.decrypt_decode(&encrypted, &secret, &mut scratch)?, &self.slots[0]))
                },
                None,
            ),
            "relin_keys" => timer.time(
                || (),
                |()| {
                    let key = maker.product_key(&self.secret, &mut scratch);
                    Ok(maker.prepared_product_key(&key, &mut scratch))
                },
                |key| {
                    let mut made = maker.ciphertext(self.parameters.product_bits());
                    self.ring.ckks_mul_into(&mut made, a, b, &key, &mut maker.scratch().borrow())?;
                    self.says(&made, &self.expected(|x, y| x * y))
                },
                None,
            ),
            _ => {
                let elements = self.elements();
                timer.time(
                    || (),
                    |()| Ok(maker.rotation_keys(&elements, &self.secret, &mut scratch)),
                    |keys| {
                        let mut made = maker.ciphertext(self.parameters.data_bits);
                        self.ring.ckks_rotate_into(1, &mut made, a, &keys, &mut maker.scratch().borrow())?;
                        self.says(&made, &self.rotated())
                    },
                    None,
                )
            }
        }
    }
}
