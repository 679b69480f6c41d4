//! Sums of compact ciphertexts, as their owner requests them.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_cloud_client::SumOf;
use sotto_compact::{MaskSum, Profile, Sum, mask_key};
use sotto_decrypt::{MaskProduct, open_compact, open_compact_places};
use sotto_keys::{CompactEncryptor, DeviceSecret, SecretKey};
use sotto_rlwe::{Bfv, ChainRequest, Params, SchemeId};
use sotto_wire::{CompactCiphertext, CompactForm, CompactSums, MaskName};

use crate::device::Device;
use crate::world::World;

const SALT: [u8; 12] = [3; 12];

struct Site {
    world: World,
    device: Device<Bfv>,
    profile: Profile,
    encryptor: CompactEncryptor,
    rng: ChaCha20Rng,
}

impl Site {
    fn new() -> Self {
        let request = ChainRequest::one_prime(SchemeId::Bfv, 2048, 1_000_001, 40);
        let params = Params::<Bfv>::new(request.build().unwrap()).unwrap();
        let (world, mut rng) = (World::start(), ChaCha20Rng::from_seed([4; 32]));
        let secret = DeviceSecret::generate(&mut rng);
        let profile = Profile::new(&params, 5, 30).unwrap();
        let encryptor = CompactEncryptor::derive(&secret, profile.params());
        let mut device = Device::new("kitchen", &params, 1);
        device.secret = SecretKey::derive(&secret, &params);
        world.put_parameters(&params);
        world.register(&device);
        Self { world, device, profile, encryptor, rng }
    }

    fn form(&self) -> CompactForm {
        let form = self.profile.form();
        CompactForm {
            parameters: self.profile.params().id(),
            key: self.device.secret.id(),
            places: form.places() as u16,
            width: form.width() as u8,
        }
    }

    fn frame(&mut self, sequence: u64, values: &[i64]) -> CompactCiphertext {
        let mask = mask_key(self.device.secret.id(), "load").mask(&SALT, sequence);
        let body = self.encryptor.encrypt(&self.profile, values, &mask, &mut self.rng).unwrap();
        CompactCiphertext { form: self.form(), mask: MaskName { salt: SALT, sequence }, body }
    }

    /// Stores a window; returns its id.
    fn store(&mut self, sequence: u64, values: &[i64]) -> String {
        let frame = self.frame(sequence, values).write().unwrap();
        let body = self.device.seal(self.device.header(sequence), frame);
        let receipt = self.world.upload("", &body).expect(201);
        receipt["id"].as_str().unwrap().to_owned()
    }
}

fn value(sequence: u64, place: i64) -> i64 {
    100 * sequence as i64 - 37 * place
}

#[test]
fn sums_open_to_what_was_added() {
    let mut site = Site::new();
    let names: Vec<String> = (0..7)
        .map(|sequence| site.store(sequence, &[0, 1, 2, 3, 4].map(|place| value(sequence, place))))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let weights: Vec<i32> = vec![1, -1, 2, 0, 0, 3];
    let wanted = [
        SumOf { envelopes: (0, 7), places: (0, 5), weights: None },
        SumOf { envelopes: (2, 3), places: (1, 2), weights: Some(weights.clone()) },
    ];
    let frame = site.world.client().sums(&names, &wanted).unwrap().frame;
    let answer = CompactSums::read(&frame, 1 << 20).unwrap();
    assert_eq!(answer.form, site.form());
    let masks = mask_key(site.device.secret.id(), "load");
    let (form, key) = (*site.profile.form(), &site.device.secret);

    let mut summed = MaskSum::new(&form);
    for (sequence, name) in answer.masks.iter().enumerate() {
        assert_eq!(*name, MaskName { salt: SALT, sequence: sequence as u64 });
        summed.add(&masks.mask(&name.salt, name.sequence), 1);
    }
    let sum = Sum::from_bytes(&form, 0..5, &answer.sums[0].body, summed.weights()).unwrap();
    let opened = open_compact(key, &site.profile, &sum, &summed).unwrap().into_residues();
    let all = |place| (0..7).map(|sequence| value(sequence, place)).sum::<i64>();
    assert_eq!(opened, [0, 1, 2, 3, 4].map(all));

    let products: Vec<MaskProduct> = answer.masks[2..5]
        .iter()
        .map(|name| MaskProduct::new(key, &site.profile, &masks.mask(&name.salt, name.sequence)).unwrap())
        .collect();
    let weights: Vec<i64> = weights.into_iter().map(i64::from).collect();
    let windows: Vec<(&MaskProduct, &[i64])> = products.iter().zip(weights.chunks(2)).collect();
    let total = [1, 2, 3].into_iter().fold(Default::default(), |all: sotto_compact::Weights, w| all.and(w));
    let sum = Sum::from_bytes(&form, 1..3, &answer.sums[1].body, total).unwrap();
    let opened = open_compact_places(key, &site.profile, &sum, &windows).unwrap().into_residues();
    let expected = |place: i64, at: usize| -> i64 {
        (2..5).zip(weights.chunks(2)).map(|(sequence, weights)| weights[at] * value(sequence, place)).sum()
    };
    assert_eq!(opened, [expected(1, 0), expected(2, 1)]);
}

#[test]
fn what_cannot_be_added_is_refused() {
    let mut site = Site::new();
    let first = site.store(0, &[1; 5]);
    let client = site.world.client();
    let sum = |envelopes, places, weights| SumOf { envelopes, places, weights };
    let refused = |names: &[&str], sums: &[SumOf]| {
        client.sums(names, sums).unwrap_err().refusal().unwrap_or_default().to_owned()
    };
    let one = sum((0, 1), (0, 5), None);
    assert_eq!(refused(&["00000000000000000000000000000000"], &[one]), "unknown-envelope");
    assert_eq!(refused(&[], &[]), "wrong-sum");
    for wrong in [
        sum((0, 2), (0, 5), None),
        sum((1, 1), (0, 5), None),
        sum((0, 0), (0, 5), None),
        sum((u32::MAX, u32::MAX), (0, 5), None),
        sum((0, 1), (0, 6), None),
        sum((0, 1), (5, 1), None),
        sum((0, 1), (0, 0), None),
        sum((0, 1), (u16::MAX, u16::MAX), None),
        sum((0, 1), (0, 5), Some(vec![1; 4])),
    ] {
        assert_eq!(refused(&[&first], std::slice::from_ref(&wrong)), "wrong-sum", "{wrong:?}");
    }
    // More additions than a request may have.
    let many = vec![first.as_str(); 4096];
    assert_eq!(refused(&many, &vec![sum((0, 4096), (0, 1), None); 17]), "wrong-sum");

    // Another form under the same key is stored, but cannot be added to the first.
    let narrow = Profile::new(site.profile.params(), 5, 31).unwrap();
    let other = CompactCiphertext {
        form: CompactForm { width: 31, ..site.form() },
        mask: MaskName { salt: SALT, sequence: 1 },
        body: vec![0; narrow.form().body_bytes()],
    };
    let body = site.device.seal(site.device.header(1), other.write().unwrap());
    let second = site.world.upload("", &body).expect(201)["id"].as_str().unwrap().to_owned();
    assert_eq!(refused(&[&first, &second], &[sum((0, 2), (0, 5), None)]), "wrong-sum");

    // A window with a number that is taken, and another body.
    let again = site.frame(0, &[2; 5]).write().unwrap();
    let body = site.device.seal(site.device.header(0), again);
    assert_eq!(site.world.upload("", &body).status, 409);
}

#[test]
fn forms_that_the_parameters_have_not_are_not_stored() {
    let mut site = Site::new();
    let ciphertext = site.frame(0, &[1; 5]);
    for (places, width) in [(3000, 30), (5, 12)] {
        let form = CompactForm { places, width, ..ciphertext.form };
        let other = CompactCiphertext { form, body: vec![0; form.bytes(places)], ..ciphertext.clone() };
        let body = site.device.seal(site.device.header(0), other.write().unwrap());
        assert_eq!(site.world.upload("", &body).status, 422, "{places} places of {width} bits");
    }
    // The mask of another window.
    let other = CompactCiphertext { mask: MaskName { salt: SALT, sequence: 1 }, ..ciphertext };
    let body = site.device.seal(site.device.header(0), other.write().unwrap());
    assert_eq!(site.world.upload("", &body).status, 400);
}
