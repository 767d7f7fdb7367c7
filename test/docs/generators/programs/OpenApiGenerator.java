import java.io.File;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.UUID;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.DirectUploadsApi;
import org.openapitools.client.api.FilesApi;
import org.openapitools.client.api.UsageApi;
import org.openapitools.client.model.ErrorAnswer;
import org.openapitools.client.model.FileRecord;
import org.openapitools.client.model.FilesPage;
import org.openapitools.client.model.TicketRequest;
import org.openapitools.client.model.UploadTicket;

/** Uses the client that openapi-generator makes for Java. It prints each step that has worked. */
public class OpenApiGenerator {
  public static void main(String[] args) throws Exception {
    var content = new File(System.getenv("FILE"));
    var client = new ApiClient();
    client.setBasePath(System.getenv("FILE_HOSTING_URL"));
    client.setBearerToken(System.getenv("FILE_HOSTING_KEY"));
    var files = new FilesApi(client);
    var uploads = new DirectUploadsApi(client);

    FileRecord file = files.uploadFile(content, null);
    require(file.getName().equals(content.getName()) && file.getSizeBytes() == content.length());
    System.out.println("upload");

    FilesPage page = files.listFiles(1, 5, content.getName());
    require(page.getItems().size() == 1 && page.getItems().get(0).getId().equals(file.getId()));
    System.out.println("list");

    require(files.getFile(file.getId()).equals(file));
    System.out.println("read");

    require(new UsageApi(client).getUsage().getSentTodayLimitBytes() > 1L << 32);
    System.out.println("usage");

    require(files.deleteFile(file.getId()).getDeleted());
    require(errorOf(files, file.getId()) == ErrorAnswer.ErrorEnum.NOT_FOUND);
    System.out.println("delete");

    var request = new TicketRequest().name(content.getName()).mimeType("image/jpeg").sizeBytes(content.length());
    UploadTicket ticket = uploads.createUpload(request, "java");
    var put = HttpRequest.newBuilder(ticket.getUpload().getUrl())
        .method(ticket.getUpload().getMethod(), BodyPublishers.ofFile(content.toPath()));
    ticket.getUpload().getHeaders().forEach(put::header);
    require(HttpClient.newHttpClient().send(put.build(), BodyHandlers.discarding()).statusCode() == 200);
    FileRecord complete = uploads.completeUpload(ticket.getId());
    require(uploads.createUpload(request, "java").getFile().equals(complete));
    System.out.println("ticket");
  }

  private static ErrorAnswer.ErrorEnum errorOf(FilesApi files, UUID id) throws Exception {
    try {
      files.getFile(id);
      throw new AssertionError("the file is still there");
    } catch (ApiException error) {
      return ErrorAnswer.fromJson(error.getResponseBody()).getError();
    }
  }

  private static void require(boolean holds) {
    if (!holds) throw new AssertionError();
  }
}
