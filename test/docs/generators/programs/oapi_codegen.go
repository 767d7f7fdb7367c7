// Uses the client that oapi-codegen makes. It prints each step that has worked.
package main

import (
	"bytes"
	"context"
	"fmt"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"

	"program/client"
)

func main() {
	ctx := context.Background()
	name := filepath.Base(os.Getenv("FILE"))
	content := must(os.ReadFile(os.Getenv("FILE")))
	withKey := client.WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("FILE_HOSTING_KEY"))
		return nil
	})
	api := must(client.NewClientWithResponses(os.Getenv("FILE_HOSTING_URL"), withKey))

	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	must(must(writer.CreateFormFile("file", name)).Write(content))
	check(writer.Close())
	file := must(api.UploadFileWithBodyWithResponse(ctx, nil, writer.FormDataContentType(), &form)).JSON201
	require(file.Name == name && file.SizeBytes == int64(len(content)))
	fmt.Println("upload")

	limit := 5
	page := must(api.ListFilesWithResponse(ctx, &client.ListFilesParams{Limit: &limit, Search: &name})).JSON200
	require(len(page.Items) == 1 && page.Items[0].Id == file.Id)
	fmt.Println("list")

	require(*must(api.GetFileWithResponse(ctx, file.Id)).JSON200 == *file)
	fmt.Println("read")

	require(must(api.GetUsageWithResponse(ctx)).JSON200.SentTodayLimitBytes > 1<<32)
	fmt.Println("usage")

	require(must(api.DeleteFileWithResponse(ctx, file.Id)).JSON200.Deleted)
	require(must(api.GetFileWithResponse(ctx, file.Id)).JSON404.Error == client.ErrorAnswerErrorNotFound)
	fmt.Println("delete")

	key := "oapi-codegen"
	request := client.TicketRequest{Name: name, MimeType: "image/jpeg", SizeBytes: int64(len(content))}
	parameters := &client.CreateUploadParams{IdempotencyKey: &key}
	ticket := must(api.CreateUploadWithResponse(ctx, parameters, request)).JSON202
	put := must(http.NewRequest(ticket.Upload.Method, ticket.Upload.Url, bytes.NewReader(content)))
	for header, value := range ticket.Upload.Headers {
		put.Header.Set(header, value)
	}
	require(must(http.DefaultClient.Do(put)).StatusCode == http.StatusOK)
	complete := must(api.CompleteUploadWithResponse(ctx, ticket.Id)).JSON201
	require(*must(api.CreateUploadWithResponse(ctx, parameters, request)).JSON201.File == *complete)
	fmt.Println("ticket")
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func require(holds bool) {
	if !holds {
		panic("not as expected")
	}
}
