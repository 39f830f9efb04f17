/*-------------------------------------------------------------------------
 *
 * server_stub.h
 *	  What a unit test asks of the stand-in for the server; see server_stub.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_SERVER_STUB_H
#define OUTERJOIN_SERVER_STUB_H

#include "postgres.h"

/* The last error that server_stub_try caught, or all empty. */
typedef struct StubError
{
	int			elevel;
	int			sqlerrcode;
	char		message[1024];
	char		detail[1024];
	char		hint[1024];
	char		context[1024];
} StubError;

extern StubError server_stub_error;

/* Call once at the top of main(). */
extern void server_stub_init(void);

/*
 * Run body(argument); true when it came back, false when it raised an error,
 * which then stands in server_stub_error.
 */
extern bool server_stub_try(void (*body) (void *argument), void *argument);

/* "22P04" for an errcode, in static memory */
extern const char *server_stub_sqlstate(int sqlerrcode);

/* pg_enc of the "database"; PG_UTF8 at first */
extern int	server_stub_encoding;

/* descriptors that AcquireExternalFD grants; 1000 at first */
extern int	server_stub_external_fds;

/* bytes allocated now in all contexts, and contexts alive */
extern size_t server_stub_allocated(void);
extern int	server_stub_contexts(void);

/* tuplestores alive, and how many have ever outgrown their memory */
extern int	server_stub_tuplestores;
extern int	server_stub_spills;

/* Print messages below ERROR to stderr? false at first. */
extern bool server_stub_verbose;

#endif							/* OUTERJOIN_SERVER_STUB_H */
