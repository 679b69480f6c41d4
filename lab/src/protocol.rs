//! Requests and replies as `engines/PROTOCOL.md` defines them.

use serde::{Deserialize, Serialize};

/// What an engine is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Request {
    /// Who are you?
    Version,
    /// Make parameters and keys.
    Prepare(Prepare),
    /// Run a program.
    Verify(Verify),
    /// Time an operation.
    Measure(Measure),
    /// One step of a round trip between two processes.
    Exchange(Exchange),
}

/// Parameters and keys to make.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Prepare {
    /// `bfv`, `bgv`, `ckks`, `paillier`, `aes-256-gcm`, `chacha20-poly1305` or `clear`.
    pub scheme: String,
    /// n; nothing for Paillier; how many values, for the conventional ciphers and in the clear.
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
    /// q_0 … q_L; or `data_bits`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<u64>,
    /// The primes of key switching alone; or `special_bits`.
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
    /// Whether to make the key of the row swap.
    #[serde(default)]
    pub swap_rows: bool,
    /// Whether parameters below 128 bits are allowed.
    #[serde(default)]
    pub insecure: bool,
    /// `scalar`: one value a plaintext, for any plain modulus; slots otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// With `scalar`: the two values that operations are timed on; random ones, if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<u32>,
}

/// A program and its inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verify {
    /// What to run.
    pub program: Program,
    /// The values of each input; missing slots are 0.
    pub inputs: Vec<Values>,
}

/// What to time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// The operation: one of [`OPERATIONS`].
    pub operation: String,
    /// How often.
    pub repetitions: u32,
    /// How often before that, without a look at the clock.
    #[serde(default)]
    pub warm_up: u32,
    /// For `serialise` and `parse`: `none`, `zlib`, `zstd` or `packed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codec: Option<String>,
    /// For `serialise` and `parse`: one of [`OBJECTS`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// Whether the same was checked by an earlier request, so that checking it again would only cost time.
    #[serde(default)]
    pub checked: bool,
    /// For operations that are whole tasks: what is computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Box<Task>>,
    /// For tasks with an agent: `serial` or `parallel`, one of [`MODES`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// For tasks with an agent: milliseconds that a trip to it takes on top of its work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<u32>,
}

/// Programs one after another on single numbers, in the first slot. The first outputs of one, still encrypted, are the first
/// inputs of the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// The programs: sums, differences, products, whole numbers as constants.
    pub programs: Vec<Program>,
    /// The new inputs of each program, which come after what was kept.
    pub inputs: Vec<Values>,
    /// How many outputs of a program go to the next, which is no input of the first.
    pub kept: usize,
    /// What the last program gives after what is kept.
    pub answers: Values,
    /// Whether inputs are encrypted before the clock starts.
    #[serde(default)]
    pub encrypted: bool,
}

/// One step of a round trip: the edge encrypts, the cloud computes, the edge decrypts. The two are processes of the same engine
/// and share a folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// `encrypt`, `add`, `multiply` or `decrypt`.
    pub step: String,
    /// Where the files are: `keys`, `a`, `b`, `answer`.
    pub folder: String,
    /// How often it is timed.
    pub repetitions: u32,
    /// For `encrypt`: whether the secret key encrypts, with masks that travel as seeds.
    #[serde(default)]
    pub seeded: bool,
    /// For `encrypt`: two inputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Values>,
    /// For the cloud's steps: the parameters, which it makes without any key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Box<Prepare>>,
}

/// Answer to `exchange`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Exchanged {
    /// How long each repetition took, with writing bytes and reading them, without files.
    pub microseconds: Vec<f64>,
    /// The size of what was written.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// What was decrypted.
    #[serde(default)]
    pub output: Option<Values>,
}

/// What can be timed; an engine need not have it all.
pub const OPERATIONS: [&str; 36] = [
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
];

/// How trips to an agent are made: one request after the other, or all that are ready at once.
pub const MODES: [&str; 2] = ["serial", "parallel"];

/// What can be serialised and parsed.
pub const OBJECTS: [&str; 7] =
    ["ciphertext", "seeded", "public_key", "relin_keys", "galois_keys", "plaintext", "secret_key"];

/// How objects are written: as they lie in memory, the same compressed, or each residue in as many bits as it needs.
pub const CODECS: [&str; 4] = ["none", "zlib", "zstd", "packed"];

/// Nodes in order; each reads only nodes before it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// For each input, a bound on its values.
    pub magnitudes: Vec<f64>,
    /// What is computed.
    pub nodes: Vec<Node>,
    /// The nodes that are asked for.
    pub outputs: Vec<usize>,
}

/// One value of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Node {
    /// An encrypted input.
    Input {
        /// Which.
        index: usize,
    },
    /// A public vector: one value for every slot, or values for the first ones.
    Constant {
        /// The values.
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
    /// Every row to the left.
    Rotate {
        /// Operand.
        a: usize,
        /// By how many slots; to the right if negative.
        steps: i32,
    },
    /// The rows exchanged; for CKKS the complex conjugate.
    SwapRows {
        /// Operand.
        a: usize,
    },
}

/// Slots: integers in exact schemes, reals in CKKS. Some languages write a whole real like an integer, so that both forms
/// have to be taken for reals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Values {
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Reals.
    Reals(Vec<f64>),
}

impl Default for Values {
    fn default() -> Self {
        Self::Integers(Vec::new())
    }
}

impl Values {
    /// The values as reals.
    pub fn reals(&self) -> Vec<f64> {
        match self {
            Self::Integers(values) => values.iter().map(|value| *value as f64).collect(),
            Self::Reals(values) => values.clone(),
        }
    }

    /// The values, if they are whole numbers.
    pub fn integers(&self) -> Option<&[i64]> {
        if let Self::Integers(values) = self { Some(values) } else { None }
    }
}

/// Answer to `version`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Version {
    /// The engine's name.
    pub engine: String,
    /// What it is built around.
    pub library: String,
    /// Which version of that.
    pub version: String,
    /// The schemes that it has.
    pub schemes: Vec<String>,
    /// Vector extensions and other notes on the build, for a person.
    #[serde(default)]
    pub flags: String,
    /// Threads that it computes on.
    #[serde(default = "one")]
    pub threads: u32,
}

fn one() -> u32 {
    1
}

/// Answer to `prepare`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Prepared {
    /// q_0 … q_L, as far as the engine tells them.
    #[serde(default)]
    pub data: Vec<u64>,
    /// The primes of key switching alone, as far as the engine tells them.
    #[serde(default)]
    pub special: Vec<u64>,
    /// log2 of q_0 ⋯ q_L; of n for Paillier.
    #[serde(default)]
    pub log2_q: f64,
    /// How many data primes.
    #[serde(default)]
    pub limbs: usize,
    /// How many special primes.
    #[serde(default)]
    pub special_limbs: usize,
    /// log2 of the whole modulus, of an engine that hides its primes and knows their lengths.
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
    /// How long each repetition took.
    pub microseconds: Vec<f64>,
    /// The size of what was made, where it has one on the wire.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// Whether the operation's result was decrypted and compared before it was timed.
    #[serde(default)]
    pub verified: bool,
}

/// The answer to what cannot be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// Why.
    pub error: String,
}

/// What an engine says to a command, a scheme or an operation that it lacks.
pub const UNSUPPORTED: &str = "unsupported";

#[cfg(test)]
mod tests {
    use super::*;

    /// The indented blocks of the page.
    fn blocks() -> Vec<String> {
        let page = include_str!("../engines/PROTOCOL.md");
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
        for request in &requests {
            let again: Request = serde_json::from_str(&serde_json::to_string(request).unwrap()).unwrap();
            assert_eq!(&again, request);
        }
        assert_eq!(serde_json::to_string(&Request::Version).unwrap(), r#"{"do":"version"}"#);
    }

    #[test]
    fn the_page_names_every_operation_object_and_codec() {
        let page = include_str!("../engines/PROTOCOL.md");
        for name in OPERATIONS.iter().chain(&OBJECTS).chain(&CODECS).chain(&MODES) {
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
