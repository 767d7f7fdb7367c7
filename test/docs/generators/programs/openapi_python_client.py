"""Uses the client that openapi-python-client makes. It prints each step that has worked."""

import io
import os

import httpx
from file_hosting_client import AuthenticatedClient
from file_hosting_client.api.direct_uploads import complete_upload, create_upload
from file_hosting_client.api.files import delete_file, get_file, list_files, upload_file
from file_hosting_client.api.usage import get_usage
from file_hosting_client.models import TicketRequest, UploadFileBody
from file_hosting_client.types import File

NAME = os.path.basename(os.environ["FILE"])
CONTENT = open(os.environ["FILE"], "rb").read()

client = AuthenticatedClient(base_url=os.environ["FILE_HOSTING_URL"], token=os.environ["FILE_HOSTING_KEY"])

body = UploadFileBody(file=File(io.BytesIO(CONTENT), NAME, "image/jpeg"))
file = upload_file.sync(client=client, body=body)
assert file.name == NAME and file.size_bytes == len(CONTENT)
print("upload")

assert [one.id for one in list_files.sync(client=client, limit=5, search=NAME).items] == [file.id]
print("list")

assert get_file.sync(file.id, client=client) == file
print("read")

assert get_usage.sync(client=client).sent_today_limit_bytes > 2**32
print("usage")

assert delete_file.sync(file.id, client=client).deleted
assert get_file.sync(file.id, client=client).error == "not_found"
print("delete")

request = TicketRequest(name=NAME, mime_type="image/jpeg", size_bytes=len(CONTENT))
ticket = create_upload.sync(client=client, body=request, idempotency_key="openapi-python-client")
upload = ticket.upload
httpx.request(upload.method, upload.url, headers=upload.headers.to_dict(), content=CONTENT).raise_for_status()
complete = complete_upload.sync(ticket.id, client=client)
again = create_upload.sync(client=client, body=request, idempotency_key="openapi-python-client")
assert again.file == complete
print("ticket")
