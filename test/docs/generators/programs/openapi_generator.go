// Uses the client that openapi-generator makes for Go. It prints each step that has worked.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	openapi "github.com/GIT_USER_ID/GIT_REPO_ID"
)

func main() {
	path := os.Getenv("FILE")
	name := filepath.Base(path)
	content := must(os.ReadFile(path))
	configuration := openapi.NewConfiguration()
	configuration.Servers = openapi.ServerConfigurations{{URL: os.Getenv("FILE_HOSTING_URL")}}
	client := openapi.NewAPIClient(configuration)
	with := context.WithValue(context.Background(), openapi.ContextAccessToken, os.Getenv("FILE_HOSTING_KEY"))

	file, _, err := client.FilesAPI.UploadFile(with).File(must(os.Open(path))).Execute()
	check(err)
	require(file.SizeBytes == int64(len(content)) && filepath.Base(file.Name) == name)
	fmt.Println("upload")

	page, _, err := client.FilesAPI.ListFiles(with).Limit(5).Search(name).Execute()
	check(err)
	require(len(page.Items) == 1 && page.Items[0].Id == file.Id)
	fmt.Println("list")

	again, _, err := client.FilesAPI.GetFile(with, file.Id).Execute()
	check(err)
	require(again.Url == file.Url)
	fmt.Println("read")

	usage, _, err := client.UsageAPI.GetUsage(with).Execute()
	check(err)
	require(usage.SentTodayLimitBytes > 1<<32)
	fmt.Println("usage")

	deletion, _, err := client.FilesAPI.DeleteFile(with, file.Id).Execute()
	check(err)
	require(deletion.Deleted)
	_, _, err = client.FilesAPI.GetFile(with, file.Id).Execute()
	var refused *openapi.GenericOpenAPIError
	require(errors.As(err, &refused) && refused.Model().(openapi.ErrorAnswer).Error == "not_found")
	fmt.Println("delete")

	request := *openapi.NewTicketRequest(name, "image/jpeg", int64(len(content)))
	ticket, _, err := client.DirectUploadsAPI.CreateUpload(with).TicketRequest(request).IdempotencyKey("go").Execute()
	check(err)
	put := must(http.NewRequest(ticket.Upload.Method, ticket.Upload.Url, bytes.NewReader(content)))
	for header, value := range ticket.Upload.Headers {
		put.Header.Set(header, value)
	}
	require(must(http.DefaultClient.Do(put)).StatusCode == http.StatusOK)
	complete, _, err := client.DirectUploadsAPI.CompleteUpload(with, ticket.Id).Execute()
	check(err)
	replay, _, err := client.DirectUploadsAPI.CreateUpload(with).TicketRequest(request).IdempotencyKey("go").Execute()
	check(err)
	require(replay.File.Url == complete.Url)
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
