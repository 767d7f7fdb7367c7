//! Uses the client that openapi-generator makes for Rust. It prints each step that has worked.

use openapi::apis::configuration::Configuration;
use openapi::apis::{direct_uploads_api, files_api, usage_api, Error};
use openapi::models::TicketRequest;
use std::{env, fs, path::PathBuf};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = PathBuf::from(env::var("FILE")?);
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    let content = fs::read(&path)?;
    let configuration = Configuration {
        base_path: env::var("FILE_HOSTING_URL")?,
        bearer_access_token: Some(env::var("FILE_HOSTING_KEY")?),
        ..Configuration::new()
    };

    let file = files_api::upload_file(&configuration, path, None).await?;
    assert_eq!((&file.name, file.size_bytes), (&name, content.len() as i64));
    println!("upload");

    let page = files_api::list_files(&configuration, None, Some(5), Some(&name)).await?;
    assert_eq!(page.items, [file.clone()]);
    println!("list");

    let id = file.id.to_string();
    assert_eq!(files_api::get_file(&configuration, &id).await?, file);
    println!("read");

    assert!(usage_api::get_usage(&configuration).await?.sent_today_limit_bytes > 1 << 32);
    println!("usage");

    assert!(files_api::delete_file(&configuration, &id).await?.deleted);
    match files_api::get_file(&configuration, &id).await {
        Err(Error::ResponseError(answer)) => assert!(answer.content.contains("not_found")),
        other => panic!("{other:?}"),
    }
    println!("delete");

    let request = TicketRequest::new(name, "image/jpeg".into(), content.len() as i64);
    let ticket = direct_uploads_api::create_upload(&configuration, request.clone(), Some("rust")).await?;
    let upload = ticket.upload.unwrap();
    let mut put = configuration.client.request(upload.method.parse()?, &upload.url).body(content);
    for (header, value) in &upload.headers {
        put = put.header(header, value);
    }
    put.send().await?.error_for_status()?;
    let complete = direct_uploads_api::complete_upload(&configuration, &ticket.id.to_string()).await?;
    let replay = direct_uploads_api::create_upload(&configuration, request, Some("rust")).await?;
    assert_eq!(*replay.file.unwrap(), complete);
    println!("ticket");
    Ok(())
}
