//! Measures a trip: batches of products at 3,072 bits, answered by a re-encryption agent in this process, and by a
//! recryptor over HTTP on this machine, which also reads, checks, charges and writes them. Prints the minimum over
//! several runs.
//!
//! `cargo run --release -p sotto-recryptor --example trips`

use std::time::{Duration, Instant};

use sotto_decrypt::partial::recryptor::LocalRecryptor;
use sotto_keys::partial::RecryptorSecret;
use sotto_keys::partial::paillier::Masking;
use sotto_keys::{DeviceSecret, Protection};
use sotto_partial::recrypt::{Recrypt, Request};
use sotto_recryptor::config::{Config, Settings};
use sotto_recryptor::server::Server;
use sotto_recryptor_client::{Address, RemoteRecryptor};

const TOKEN: &str = "only-for-this-example";
const CALLERS: &str = "[[caller]]\nname = \"here\"\ntoken_file = \"token\"\nnumbers_a_day = 1000000\n";

fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name);
    let mut rng = sotto_ring::secure_rng()?;
    let device = DeviceSecret::generate(&mut rng);
    let secret = RecryptorSecret::derive(&device, 3072, Masking::HalfLength, None)?;
    secret.write(&path("recryptor.key"), &Protection::FileMode, &mut rng)?;
    sotto_service::token::write_private(&path("token"), TOKEN)?;
    std::fs::write(path("callers.toml"), CALLERS)?;
    let config = Config::new(Settings {
        listen: Some(([127, 0, 0, 1], 0).into()),
        data: Some(path("data")),
        key_file: Some(path("recryptor.key")),
        callers_file: Some(path("callers.toml")),
        ..Settings::default()
    })?;
    let runtime = tokio::runtime::Runtime::new()?;
    let server = runtime.block_on(Server::open(&config))?;
    let url = format!("http://{}", server.address());
    let served = runtime.spawn(server.serve(std::future::pending()));

    let near = LocalRecryptor::new(&secret.paillier, None)?;
    let far = RemoteRecryptor::connect(&Address::new(&url)?, TOKEN)?;
    let key = far.paillier_key();
    let mut encrypt = |value| key.encrypt(&key.signed(value), &mut rng);
    println!("{:>8}  {:>14}  {:>14}", "products", "in process, ms", "over HTTP, ms");
    for count in [1, 16, 256] {
        let batch = (0..count)
            .map(|i| Ok(Request::Product(encrypt(i)?, encrypt(-i)?)))
            .collect::<anyhow::Result<Vec<_>>>()?;
        let repetitions = if count == 256 { 3 } else { 20 };
        let [near, far] = [least(&near, &batch, repetitions)?, least(&far, &batch, repetitions)?];
        println!("{count:>8}  {:>14.1}  {:>14.1}", 1000.0 * near.as_secs_f64(), 1000.0 * far.as_secs_f64());
    }
    served.abort();
    Ok(())
}

fn least(agent: &dyn Recrypt, batch: &[Request], repetitions: usize) -> anyhow::Result<Duration> {
    let mut least = Duration::MAX;
    for _ in 0..repetitions {
        let start = Instant::now();
        agent.exchange(batch)?;
        least = least.min(start.elapsed());
    }
    Ok(least)
}
