//! A program runs through a recryptor that is killed and restarted.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sotto_decrypt::partial::paillier::Decryptor;
use sotto_emulate::{
    Emulation, Flow, Products, Progress, PublicKeys, Recrypt, RecryptError, Request, Response, RunError,
    Schedule,
};
use sotto_partial::paillier::Ciphertext;
use sotto_program::{Program, ProgramBuilder, SlotShape, clear};

use crate::world::{KEYS, TOKEN, World};

const MODES: [(Products, Schedule); 3] = [
    (Products::Converted { group_bits: 2048 }, Schedule::Serial),
    (Products::Converted { group_bits: 2048 }, Schedule::Parallel { workers: 2, trips: 3 }),
    (Products::Blinded, Schedule::Parallel { workers: 2, trips: 3 }),
];
const TERMS: usize = 12;

/// Returns the program Σ x_i·y_i with its square, and its inputs.
fn weighted_sum() -> (Program, Vec<i128>) {
    let mut asked = ProgramBuilder::new();
    let (mut sum, mut values) = (asked.integer(0), Vec::new());
    for term in 0..TERMS {
        let (x, y) = (asked.input(format!("x{term}"), 20.0), asked.input(format!("y{term}"), 20.0));
        let product = asked.mul(x, y);
        sum = asked.add(sum, product);
        values.extend([term as i128 % 20, -(term as i128) % 7 + 3]);
    }
    let square = asked.mul(sum, sum);
    asked.output("sum", sum).output("square", square);
    (asked.finish().unwrap(), values)
}

fn meaning(program: &Program, values: &[i128]) -> Vec<i128> {
    let inputs: Vec<Vec<i128>> = values.iter().map(|value| vec![*value]).collect();
    let outputs = clear::run_integer(program, &inputs, SlotShape::SCALAR, None).unwrap();
    outputs.into_iter().map(|output| output[0]).collect()
}

fn start<'f>(flow: &'f Flow, values: &[i128]) -> Progress<'f> {
    let keys = PublicKeys { paillier: KEYS.paillier.clone(), elgamal: Some(KEYS.elgamal.clone()) };
    let inputs: Vec<Ciphertext> = values.iter().map(|value| KEYS.encrypt(*value)).collect();
    Progress::new(flow, &keys, &inputs).unwrap()
}

fn numbers(progress: &Progress<'_>) -> Vec<i128> {
    let decryptor = Decryptor::new(&KEYS.secret.paillier).unwrap();
    let number = |c: &Ciphertext| decryptor.decrypt(&KEYS.paillier, c).unwrap().to_signed(&KEYS.paillier);
    progress.outputs().unwrap().iter().map(|output| number(output).unwrap()).collect()
}

/// Returns the number of requests charged for a flow; asserts that each of its requests was charged.
fn charged(flow: &Flow, products: Products, world: &World) -> u64 {
    let [_, found_products, to_elgamal, to_paillier, _] = world.counted("cloud", "charged");
    if products == Products::Blinded {
        assert_eq!((to_elgamal, to_paillier), (0, 0));
    } else {
        assert_eq!(found_products, 0);
    }
    let all = found_products + to_elgamal + to_paillier;
    assert!(all >= flow.requests() as u64, "{all} of {}", flow.requests());
    all
}

/// Kills the recryptor during some of the trips, and restarts it.
struct Killing<'w, A> {
    world: &'w World,
    agent: A,
    trips: AtomicU64,
    kills: AtomicU64,
    /// One kill at a time: two processes at one address would both fail.
    killing: Mutex<()>,
}

impl<A: Recrypt> Recrypt for Killing<'_, A> {
    fn exchange(&self, batch: &[Request]) -> Result<Vec<Response>, RecryptError> {
        let trip = self.trips.fetch_add(1, Ordering::SeqCst);
        if trip % 3 != 1 || self.kills.fetch_add(1, Ordering::SeqCst) >= 4 {
            return self.agent.exchange(batch);
        }
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // Kill at a different moment of each trip: before the request arrives, while it is answered, and after
                // that.
                std::thread::sleep(Duration::from_millis(7 * trip));
                let _one = self.killing.lock().unwrap();
                self.world.kill();
                self.world.resume();
            });
            self.agent.exchange(batch)
        })
    }
}

#[test]
fn killed_in_the_middle_it_goes_on_and_charges_once() {
    let (program, values) = weighted_sum();
    for (products, schedule) in MODES {
        let world = World::start();
        let flow = Emulation { key_bits: 2048, products }.lower(&program).unwrap();
        let agent = Killing {
            world: &world,
            agent: world.client(TOKEN),
            trips: AtomicU64::new(0),
            kills: AtomicU64::new(0),
            killing: Mutex::default(),
        };
        let mut progress = start(&flow, &values);
        progress.advance(&agent, schedule).unwrap();
        assert_eq!(numbers(&progress), meaning(&program, &values), "{products:?}");
        assert!(agent.kills.load(Ordering::SeqCst) > 0, "it was killed");
        // A repeated batch keeps its name: nothing is charged twice, and nothing is lost.
        assert_eq!(charged(&flow, products, &world), flow.requests() as u64, "{products:?}");
        let quota = world.ask(Some(TOKEN), "/v1/quota").json();
        assert_eq!(quota["used"], world.counted("cloud", "charged")[4]);
    }
}

#[test]
fn gone_for_longer_the_program_fails_cleanly_and_resumes() {
    let (program, values) = weighted_sum();
    for (products, schedule) in MODES {
        let world = World::start();
        let flow = Emulation { key_bits: 2048, products }.lower(&program).unwrap();
        // Long enough for answered trips, even on a busy machine.
        let client = world.client(TOKEN).with_patience(Duration::from_secs(2));
        let trips = AtomicU64::new(0);
        let mut progress = start(&flow, &values);
        // The square needs the sum first: at least two trips.
        let agent = Gone { world: &world, agent: &client, after: 1, trips: &trips };
        let failed = progress.advance(&agent, schedule);
        assert!(matches!(failed, Err(RunError::Recrypt(RecryptError::Lost { .. }))), "{failed:?}");
        let (done, all) = progress.steps();
        assert!(0 < done && done < all, "{done} of {all}");
        world.resume();
        progress.advance(&world.client(TOKEN), schedule).unwrap();
        assert_eq!(numbers(&progress), meaning(&program, &values), "{products:?}");
        // A trip that was given up may have been charged, and was repeated under a new name.
        assert!(charged(&flow, products, &world) <= 2 * flow.requests() as u64);
    }
}

/// Kills the recryptor after some trips, and does not restart it.
struct Gone<'w, A> {
    world: &'w World,
    agent: &'w A,
    after: u64,
    trips: &'w AtomicU64,
}

impl<A: Recrypt> Recrypt for Gone<'_, A> {
    fn exchange(&self, batch: &[Request]) -> Result<Vec<Response>, RecryptError> {
        if self.trips.fetch_add(1, Ordering::SeqCst) == self.after {
            self.world.kill();
        }
        self.agent.exchange(batch)
    }
}
