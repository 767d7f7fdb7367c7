"""Uses the client that openapi-generator makes for Python. It prints each step that has worked."""

import os
import urllib.request

from openapi_client import ApiClient, Configuration, DirectUploadsApi, FilesApi, TicketRequest, UsageApi
from openapi_client.exceptions import NotFoundException

NAME = os.path.basename(os.environ["FILE"])
CONTENT = open(os.environ["FILE"], "rb").read()

configuration = Configuration(host=os.environ["FILE_HOSTING_URL"], access_token=os.environ["FILE_HOSTING_KEY"])
with ApiClient(configuration) as client:
    files, uploads = FilesApi(client), DirectUploadsApi(client)

    file = files.upload_file(os.environ["FILE"])
    assert file.name == NAME and file.size_bytes == len(CONTENT)
    print("upload")

    assert [one.id for one in files.list_files(limit=5, search=NAME).items] == [file.id]
    print("list")

    assert files.get_file(file.id) == file
    print("read")

    assert UsageApi(client).get_usage().sent_today_limit_bytes > 2**32
    print("usage")

    assert files.delete_file(file.id).deleted
    try:
        files.get_file(file.id)
        raise AssertionError("the file is still there")
    except NotFoundException as error:
        assert error.data.error == "not_found"
    print("delete")

    request = TicketRequest(name=NAME, mime_type="image/jpeg", size_bytes=len(CONTENT))
    ticket = uploads.create_upload(request, idempotency_key="python")
    put = urllib.request.Request(ticket.upload.url, CONTENT, ticket.upload.headers, method=ticket.upload.method)
    urllib.request.urlopen(put).close()
    complete = uploads.complete_upload(ticket.id)
    assert uploads.create_upload(request, idempotency_key="python").file == complete
    print("ticket")
