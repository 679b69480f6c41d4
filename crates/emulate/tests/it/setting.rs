//! Keys for tests: Paillier of 512 bits, ElGamal of 2,048; a recryptor; the three modes.

use std::sync::{Arc, LazyLock};

use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;
use sotto_decrypt::partial::paillier::Decryptor;
use sotto_decrypt::partial::recryptor::LocalRecryptor;
use sotto_emulate::{Emulation, Flow, LowerError, Products, PublicKeys, Recrypt, RunError, Schedule, run};
use sotto_kernels::Target;
use sotto_keys::partial::{elgamal, paillier};
use sotto_partial::elgamal::{Group, GroupName};
use sotto_partial::paillier::Ciphertext;
use sotto_program::{Program, SlotShape, clear, passes};

pub(crate) const KEY_BITS: u32 = 512;
pub(crate) const CONVERTED: Products = Products::Converted { group_bits: 2048 };

/// The paper's mode, the same in parallel, and the default mode.
pub(crate) const MODES: [(Products, Schedule); 3] = [
    (CONVERTED, Schedule::Serial),
    (CONVERTED, Schedule::Parallel { workers: 2, trips: 3 }),
    (Products::Blinded, Schedule::Parallel { workers: 2, trips: 3 }),
];

pub(crate) struct Setting {
    pub(crate) recryptor: LocalRecryptor,
    pub(crate) keys: PublicKeys,
    decryptor: Decryptor,
}

pub(crate) static SETTING: LazyLock<Setting> = LazyLock::new(|| Setting::new(1));

impl Setting {
    pub(crate) fn new(seed: u8) -> Self {
        let mut rng = ChaCha20Rng::from_seed([seed; 32]);
        let half = paillier::Masking::HalfLength;
        let secret = paillier::SecretKey::insecure_generate(KEY_BITS, half, &mut rng).unwrap();
        let public = secret.insecure_public_key(Target::best()).unwrap();
        let group = Arc::new(Group::new(GroupName::Ffdhe2048).unwrap());
        let elgamal = elgamal::SecretKey::generate(&group, &mut rng);
        let recryptor = LocalRecryptor::with_public_key(&secret, public, Some(elgamal)).unwrap();
        let keys = PublicKeys {
            paillier: recryptor.paillier_key().clone(),
            elgamal: recryptor.elgamal_key().cloned(),
        };
        Self { recryptor, keys, decryptor: Decryptor::new(&secret).unwrap() }
    }

    pub(crate) fn encrypt(&self, values: &[i128]) -> Vec<Ciphertext> {
        let key = &self.keys.paillier;
        let mut rng = ChaCha20Rng::from_seed([7; 32]);
        values.iter().map(|value| key.encrypt(&key.signed(*value), &mut rng).unwrap()).collect()
    }

    pub(crate) fn decrypt(&self, answers: &[Ciphertext]) -> Vec<i128> {
        let key = &self.keys.paillier;
        answers.iter().map(|c| self.decryptor.decrypt(key, c).unwrap().to_signed(key).unwrap()).collect()
    }

    /// Encrypts the values, runs the flow and decrypts the answers.
    pub(crate) fn answers(
        &self,
        flow: &Flow,
        values: &[i128],
        recryptor: &dyn Recrypt,
        schedule: Schedule,
    ) -> Result<Vec<i128>, RunError> {
        Ok(self.decrypt(&run(flow, &self.keys, &self.encrypt(values), recryptor, schedule)?))
    }
}

pub(crate) fn lower(program: &Program, products: Products) -> Result<Flow, LowerError> {
    Emulation { key_bits: KEY_BITS, products }.lower(program)
}

/// Computes the program in the clear. Nodes that no answer reads are dropped: they may exceed the range.
pub(crate) fn meaning(program: &Program, values: &[i128]) -> Vec<i128> {
    let inputs: Vec<Vec<i128>> = values.iter().map(|value| vec![*value]).collect();
    let outputs =
        clear::run_integer(&passes::drop_unused(program), &inputs, SlotShape::SCALAR, None).unwrap();
    outputs.into_iter().map(|output| output[0]).collect()
}
