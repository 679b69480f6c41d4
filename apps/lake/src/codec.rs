//! The bytes of the leaves of a plan, between a coordinator and its workers.

use std::sync::Arc;

use datafusion::common::{Result, internal_err};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::AggregateUDF;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};

use serde::{Deserialize, Serialize};

use crate::LakeError;
use crate::ciphertexts::{self, CiphertextsExec};
use crate::sums::{AnswerFunction, NAME, answer_function};
use crate::windows::{self, WindowsExec};

/// Writes and reads the leaves of a plan.
#[derive(Debug)]
pub(crate) struct Codec;

/// The leaf of a plan.
#[derive(Serialize, Deserialize)]
enum Leaf<W, C> {
    Windows(W),
    Ciphertexts(C),
}

impl PhysicalExtensionCodec for Codec {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        _: &TaskContext,
        _: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if !inputs.is_empty() {
            return internal_err!("a leaf has no inputs");
        }
        let leaf: Leaf<windows::Reading, ciphertexts::Reading> =
            serde_json::from_slice(bytes).map_err(|error| LakeError::Plan(error.to_string()))?;
        match leaf {
            Leaf::Windows(reading) => {
                reading.check()?;
                Ok(Arc::new(WindowsExec::new(reading)?))
            }
            Leaf::Ciphertexts(reading) => {
                reading.check()?;
                Ok(Arc::new(CiphertextsExec::new(reading)?))
            }
        }
    }

    fn try_decode_udaf(&self, name: &str, bytes: &[u8]) -> Result<Arc<AggregateUDF>> {
        if name != NAME {
            return Err(LakeError::Plan(format!("there is no function {name}")).into());
        }
        let asked = serde_json::from_slice(bytes).map_err(|error| LakeError::Plan(error.to_string()))?;
        Ok(Arc::new(AggregateUDF::from(answer_function(asked))))
    }

    fn try_encode_udaf(&self, node: &AggregateUDF, bytes: &mut Vec<u8>) -> Result<()> {
        if let Some(function) = node.inner().downcast_ref::<AnswerFunction>() {
            serde_json::to_writer(bytes, &*function.asked)
                .map_err(|error| LakeError::Plan(error.to_string()))?;
        }
        Ok(())
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        _: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let leaf = if let Some(scan) = node.downcast_ref::<WindowsExec>() {
            Leaf::Windows(&*scan.reading)
        } else if let Some(scan) = node.downcast_ref::<CiphertextsExec>() {
            Leaf::Ciphertexts(&*scan.reading)
        } else {
            return internal_err!("a lake's plan has {}", node.name());
        };
        serde_json::to_writer(bytes, &leaf).map_err(|error| LakeError::Plan(error.to_string()))?;
        Ok(())
    }
}
