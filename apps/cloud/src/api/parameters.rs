//! Parameter sets that the cloud may compute with.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use sotto_api::parameters::{KeptParameters, PutParameters};
use sotto_service::body;

use super::routes::Routes;
use crate::cloud::Cloud;
use crate::problem::Problem;
use crate::register::{self, LARGEST_PARAMETERS};

pub(super) fn routes(routes: Routes) -> Routes {
    routes.serve(PutParameters, put)
}

async fn put(State(cloud): State<Arc<Cloud>>, request: Request) -> Result<Json<KeptParameters>, Problem> {
    let frame = body::read(request, LARGEST_PARAMETERS, cloud.config.body_time()).await?;
    cloud
        .computing(move |cloud| {
            let (id, scheme) = register::parameters(cloud, &frame)?;
            Ok(Json(KeptParameters { parameter_id: id.to_string(), scheme: scheme.name().to_owned() }))
        })
        .await
}
