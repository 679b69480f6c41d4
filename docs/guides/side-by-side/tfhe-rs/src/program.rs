// [program
use std::error::Error;

use tfhe::prelude::*;
use tfhe::safe_serialization::{safe_deserialize, safe_serialize};
use tfhe::{
    ClientKey, CompressedFheInt16, CompressedFheUint8, CompressedServerKey, ConfigBuilder, FheInt32,
    FheUint32, set_server_key,
};

type Result<T> = std::result::Result<T, Box<dyn Error>>;
const LARGEST: u64 = 1 << 30;

/// The owner makes keys, and sends the public one.
pub fn keys() -> Result<(ClientKey, Vec<u8>)> {
    let secret = ClientKey::generate(ConfigBuilder::default().build());
    let mut public = Vec::new();
    safe_serialize(&CompressedServerKey::new(&secret), &mut public, LARGEST)?;
    Ok((secret, public))
}

/// The device encrypts: temperatures in hundredths of a degree, weights in percent.
pub fn encrypt(secret: &ClientKey, x: &[i16], w: &[u8]) -> Result<[Vec<u8>; 2]> {
    let [mut sent_x, mut sent_w] = [Vec::new(), Vec::new()];
    for (x, w) in x.iter().zip(w) {
        safe_serialize(&CompressedFheInt16::try_encrypt(*x, secret)?, &mut sent_x, LARGEST)?;
        safe_serialize(&CompressedFheUint8::try_encrypt(*w, secret)?, &mut sent_w, LARGEST)?;
    }
    Ok([sent_x, sent_w])
}

/// The cloud computes. Every result is below 6500²·100 < 2^32.
pub fn compute(public: &[u8], mut x: &[u8], mut w: &[u8]) -> Result<Vec<u8>> {
    set_server_key(safe_deserialize::<CompressedServerKey>(public, LARGEST)?.decompress());
    let mut terms = Vec::new();
    while !x.is_empty() {
        let x = safe_deserialize::<CompressedFheInt16>(&mut x, LARGEST)?.decompress();
        let w = safe_deserialize::<CompressedFheUint8>(&mut w, LARGEST)?.decompress();
        let difference: FheInt32 = (x - 2000).cast_into();
        let square: FheUint32 = (&difference * &difference).cast_into();
        let weight: FheUint32 = w.cast_into();
        terms.push(square * weight);
    }
    let mut answer = Vec::new();
    safe_serialize(&terms.iter().sum::<FheUint32>(), &mut answer, LARGEST)?;
    Ok(answer)
}

/// The owner decrypts.
pub fn decrypt(secret: &ClientKey, answer: &[u8]) -> Result<f64> {
    let sum: u32 = safe_deserialize::<FheUint32>(answer, LARGEST)?.decrypt(secret);
    Ok(f64::from(sum) / 1e6)
}
// program]
