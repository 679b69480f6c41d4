//! The bytes of the leaves of a plan, between a coordinator and its workers.

use std::sync::Arc;

use datafusion::common::{Result, internal_err};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::AggregateUDF;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};

use serde::{Deserialize, Serialize};

use crate::LakeError;
use crate::ciphertexts::Entries;
use crate::leaf::{Leaf, Reading};
use crate::sums::{AnswerFunction, NAME, answer_function};
use crate::windows::Windows;

/// Writes and reads the leaves of a plan.
#[derive(Debug)]
pub(crate) struct Codec;

/// What a leaf of a plan reads.
#[derive(Serialize, Deserialize)]
enum Read<W, C> {
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
        let read: Read<Reading<Windows>, Reading<Entries>> =
            serde_json::from_slice(bytes).map_err(|error| LakeError::Plan(error.to_string()))?;
        Ok(match read {
            Read::Windows(reading) => Arc::new(Leaf::new(reading)?),
            Read::Ciphertexts(reading) => Arc::new(Leaf::new(reading)?),
        })
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
        let read = if let Some(leaf) = node.downcast_ref::<Leaf<Windows>>() {
            Read::Windows(&*leaf.reading)
        } else if let Some(leaf) = node.downcast_ref::<Leaf<Entries>>() {
            Read::Ciphertexts(&*leaf.reading)
        } else {
            return internal_err!("a lake's plan has {}", node.name());
        };
        serde_json::to_writer(bytes, &read).map_err(|error| LakeError::Plan(error.to_string()))?;
        Ok(())
    }
}
