//! Requests and replies as `engines/PROTOCOL.md` defines them.

use serde::{Deserialize, Serialize};

pub use crate::comparisons::{Compare, Compared, METHODS};
pub use crate::values::Values;

/// A request to an engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Request {
    /// Name the engine, library and version.
    Version,
    /// Make parameters and keys.
    Prepare(Prepare),
    /// Run a program.
    Verify(Verify),
    /// Time an operation.
    Measure(Measure),
    /// One step of a round trip between two processes.
    Exchange(Exchange),
    /// Compare encrypted readings with a limit.
    Compare(Compare),
}

/// Parameters and keys to make.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Prepare {
    /// One of the schemes in `engines/PROTOCOL.md`, such as `bfv`, `bgv`, `ckks` or `paillier`.
    pub scheme: String,
    /// n; 0 for Paillier; the number of values for the conventional ciphers and in the clear.
    #[serde(default)]
    pub degree: usize,
    /// The bits of Paillier's modulus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_bits: Option<u32>,
    /// t, for BFV and BGV.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plain_modulus: Option<u64>,
    /// log2 of the scale, for CKKS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale_bits: Option<u32>,
    /// q_0 … q_L; empty if `data_bits` is given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<u64>,
    /// The primes that only key switching uses; empty if `special_bits` is given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub special: Vec<u64>,
    /// Bit lengths of data primes that the engine chooses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data_bits: Vec<u32>,
    /// Bit lengths of special primes that the engine chooses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub special_bits: Vec<u32>,
    /// Rotations to make keys for.
    #[serde(default)]
    pub rotations: Vec<i32>,
    /// True to make the key of the row swap.
    #[serde(default)]
    pub swap_rows: bool,
    /// True to allow parameters below 128 bits.
    #[serde(default)]
    pub insecure: bool,
    /// `scalar` for one value in a plaintext, with any plain modulus; slots otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// With `scalar`: the two values to measure with; random if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<u32>,
}

/// A program and its inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verify {
    /// What to compute on encrypted inputs.
    pub program: Program,
    /// The values of each input; missing slots are 0.
    pub inputs: Vec<Values>,
}

/// An operation to time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// What to time: one of [`OPERATIONS`].
    pub operation: String,
    /// Number of timed repetitions.
    pub repetitions: u32,
    /// Number of untimed repetitions before them.
    #[serde(default)]
    pub warm_up: u32,
    /// For `serialise` and `parse`: `none`, `zlib`, `zstd` or `packed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codec: Option<String>,
    /// For `serialise` and `parse`: one of [`OBJECTS`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// True if an earlier request checked the same operation, so that the engine need not check it again.
    #[serde(default)]
    pub checked: bool,
    /// For operations that are whole tasks: the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Box<Task>>,
    /// For tasks with a re-encryption agent: `serial` or `parallel`, one of [`MODES`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// For tasks with a re-encryption agent: the added milliseconds of a trip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<u32>,
}

/// Programs one after another on single numbers, in the first slot. The first outputs of a program, still encrypted,
/// are the first inputs of the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// The programs: sums, differences, products, whole numbers as constants.
    pub programs: Vec<Program>,
    /// The new inputs of each program, which follow the kept ones.
    pub inputs: Vec<Values>,
    /// The number of outputs that a program passes to the next one. The first program gets none.
    pub kept: usize,
    /// The answers: the outputs of the last program after the kept ones.
    pub answers: Values,
    /// True if inputs are encrypted before the timing starts.
    #[serde(default)]
    pub encrypted: bool,
}

/// One step of a round trip: the edge encrypts, the cloud computes, the edge decrypts. The two are processes of the
/// same engine and share a folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// `encrypt`, `add`, `multiply` or `decrypt`.
    pub step: String,
    /// The folder of the files `keys`, `a`, `b`, `answer`.
    pub folder: String,
    /// Number of timed repetitions.
    pub repetitions: u32,
    /// For `encrypt`: true if the secret key encrypts, with masks that travel as seeds.
    #[serde(default)]
    pub seeded: bool,
    /// For `encrypt`: two inputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Values>,
    /// For the cloud's steps: the parameters, for which the cloud makes no keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Box<Prepare>>,
}

/// Answer to `exchange`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Exchanged {
    /// The microseconds of each repetition, including conversion from and to bytes, excluding files.
    pub microseconds: Vec<f64>,
    /// The size of the result in bytes.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// The decrypted slots.
    #[serde(default)]
    pub output: Option<Values>,
}

/// The operations that can be timed; an engine may lack some.
pub const OPERATIONS: [&str; 42] = [
    "keygen",
    "relin_keys",
    "galois_keys",
    "encode",
    "decode",
    "encrypt_public",
    "encrypt_secret",
    "encode_encrypt_public",
    "encode_encrypt_secret",
    "decrypt",
    "decrypt_decode",
    "add",
    "add_in_place",
    "add_plain",
    "encode_add_plain",
    "subtract",
    "negate",
    "multiply",
    "multiply_relin",
    "square",
    "multiply_plain",
    "rotate",
    "rotate_hoisted",
    "switch_keys",
    "rescale",
    "modswitch",
    "serialise",
    "parse",
    "list_conversion",
    "edge_encrypt",
    "cloud_add",
    "cloud_multiply",
    "edge_decrypt",
    "task_expression",
    "task_weighted_sum",
    "task_weighted_sum_encrypted",
    "task_regression",
    "window_encrypt",
    "window_sum_1000",
    "window_sum_10000",
    "window_open_1000",
    "window_open_10000",
];

/// How requests travel to a re-encryption agent: one after the other, or all ready ones together.
pub const MODES: [&str; 2] = ["serial", "parallel"];

/// The objects that can be serialised and parsed.
pub const OBJECTS: [&str; 7] =
    ["ciphertext", "seeded", "public_key", "relin_keys", "galois_keys", "plaintext", "secret_key"];

/// The forms of written objects: uncompressed, compressed by zlib or Zstandard, or each residue in as many bits as its
/// prime has.
pub const CODECS: [&str; 4] = ["none", "zlib", "zstd", "packed"];

/// A program: nodes in order, each of which reads only earlier nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// For each input, a bound on its values.
    pub magnitudes: Vec<f64>,
    /// In an order in which operands come first.
    pub nodes: Vec<Node>,
    /// The nodes whose values are the outputs.
    pub outputs: Vec<usize>,
}

/// One value of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Node {
    /// An encrypted input.
    Input {
        /// The input's index.
        index: usize,
    },
    /// A public vector: one value for every slot, or values for the first ones.
    Constant {
        /// One for every slot, or those of the first slots.
        values: Values,
    },
    /// a + b.
    Add {
        /// First operand.
        a: usize,
        /// Second operand.
        b: usize,
    },
    /// a − b.
    Sub {
        /// First operand.
        a: usize,
        /// Second operand.
        b: usize,
    },
    /// a · b.
    Mul {
        /// First operand.
        a: usize,
        /// Second operand.
        b: usize,
    },
    /// −a.
    Neg {
        /// Operand.
        a: usize,
    },
    /// Every row rotated to the left.
    Rotate {
        /// Operand.
        a: usize,
        /// Number of slots; to the right if negative.
        steps: i32,
    },
    /// The rows exchanged; for CKKS the complex conjugate.
    SwapRows {
        /// Operand.
        a: usize,
    },
}

/// Answer to `version`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Version {
    /// The engine's name.
    pub engine: String,
    /// The library that it drives.
    pub library: String,
    /// The library's version.
    pub version: String,
    /// The schemes that it has.
    pub schemes: Vec<String>,
    /// The methods that it compares with, of [`METHODS`].
    #[serde(default)]
    pub comparisons: Vec<String>,
    /// Vector extensions and other notes on the build, for people.
    #[serde(default)]
    pub flags: String,
    /// Number of threads.
    #[serde(default = "one")]
    pub threads: u32,
}

fn one() -> u32 {
    1
}

/// Answer to `prepare`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Prepared {
    /// q_0 … q_L; empty if the engine hides them.
    #[serde(default)]
    pub data: Vec<u64>,
    /// The primes that only key switching uses; empty if the engine hides them.
    #[serde(default)]
    pub special: Vec<u64>,
    /// log2 of q_0 ⋯ q_L; of n for Paillier.
    #[serde(default)]
    pub log2_q: f64,
    /// Number of data primes.
    #[serde(default)]
    pub limbs: usize,
    /// Number of special primes.
    #[serde(default)]
    pub special_limbs: usize,
    /// log2 of the whole modulus, if the engine hides its primes but knows their lengths.
    #[serde(default)]
    pub log2_qp: Option<f64>,
    /// The bits of security that the library itself states for the parameters.
    #[serde(default)]
    pub security: Option<u32>,
}

/// Answer to `verify`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verified {
    /// Every slot of every output.
    pub outputs: Vec<Values>,
    /// A bound on the error of each output, if the engine states one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<f64>,
}

/// Answer to `measure`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The microseconds of each repetition.
    pub microseconds: Vec<f64>,
    /// The size of the result in bytes, for `serialise`, `parse`, and windows and their sums.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// True if the operation's result was decrypted and compared before the timing.
    #[serde(default)]
    pub verified: bool,
}

/// The reply to a request that failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The reason.
    pub error: String,
}

/// The reason in the reply to an unknown or missing command, scheme or operation.
pub const UNSUPPORTED: &str = "unsupported";

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the indented blocks of PROTOCOL.md.
    fn blocks() -> Vec<String> {
        let page = include_str!("../../engines/PROTOCOL.md");
        let mut blocks = vec![String::new()];
        for line in page.lines() {
            match line.strip_prefix("    ") {
                Some(code) => blocks.iter_mut().last().expect("there is one").push_str(code),
                None => blocks.push(String::new()),
            }
        }
        blocks.into_iter().filter(|block| !block.is_empty()).collect()
    }

    #[test]
    fn requests_are_written_as_the_page_says() {
        let requests: Vec<Request> =
            blocks().iter().map(|block| serde_json::from_str(block).expect(block)).collect();
        let [
            Request::Prepare(prepare),
            Request::Verify(verify),
            Request::Measure(measure),
            Request::Measure(task),
            Request::Exchange(exchange),
            Request::Compare(compare),
        ] = &requests[..]
        else {
            panic!("{requests:?}")
        };
        assert_eq!((prepare.scheme.as_str(), prepare.rotations.as_slice()), ("bgv", &[1, -1, 2][..]));
        assert!(prepare.swap_rows && !prepare.insecure && prepare.scale_bits.is_none());
        assert_eq!(verify.inputs[0].integers(), Some(&[1, 2, 3][..]));
        assert_eq!(verify.program.nodes[3], Node::Rotate { a: 2, steps: -1 });
        assert_eq!((measure.repetitions, measure.warm_up, measure.codec.as_deref()), (20, 2, Some("zstd")));
        let asked = task.task.as_deref().unwrap();
        assert_eq!((asked.kept, asked.answers.integers()), (0, Some(&[50][..])));
        assert_eq!((task.mode.as_deref(), task.latency_ms), (Some("parallel"), Some(20)));
        assert!(exchange.step == "encrypt" && exchange.seeded && exchange.inputs.len() == 2);
        assert_eq!((compare.readings.integers(), compare.limit), (Some(&[12, 80, 81][..]), 80.0));
        for request in &requests {
            let again: Request = serde_json::from_str(&serde_json::to_string(request).unwrap()).unwrap();
            assert_eq!(&again, request);
        }
        assert_eq!(serde_json::to_string(&Request::Version).unwrap(), r#"{"do":"version"}"#);
    }

    #[test]
    fn the_page_names_every_operation_object_codec_and_method() {
        let page = include_str!("../../engines/PROTOCOL.md");
        for name in OPERATIONS.iter().chain(&OBJECTS).chain(&CODECS).chain(&MODES).chain(&METHODS) {
            assert!(page.contains(&format!("`{name}`")), "{name}");
        }
    }

    #[test]
    fn whole_and_real_values_are_told_apart() {
        let values = |text: &str| serde_json::from_str::<Values>(text).unwrap();
        assert_eq!(values("[1,-2]"), Values::Integers(vec![1, -2]));
        assert_eq!(values("[1,-2.5]"), Values::Reals(vec![1.0, -2.5]));
        assert_eq!(values("[1.0]").integers(), None);
        assert_eq!(values("[1]").reals(), [1.0]);
    }
}
